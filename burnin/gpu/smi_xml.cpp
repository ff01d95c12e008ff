#include "burnin/gpu/smi_xml.h"

#include "base/text.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

constexpr std::string_view kBegin = "<nvidia_smi_log";
constexpr std::string_view kEnd = "</nvidia_smi_log>";

}  // namespace

Result<SmiLog> parse_smi(std::string_view text) {
  SmiLog log;
  auto begin = text.find(kBegin);
  if (begin == text.npos) return Error{Code::kNoMeasurement, "nvidia-smi lists no GPU"};
  while (begin != text.npos) {
    const auto next = text.find(kBegin, begin + kBegin.size());
    const auto end = text.find(kEnd, begin);
    // One that was broken off by an error is followed by the next.
    const bool whole = end != text.npos && (next == text.npos || end < next);
    auto& document = log.documents.emplace_back();
    const bool good = whole && document.load_buffer(text.data() + begin, end + kEnd.size() - begin,
                                                    pugi::parse_minimal, pugi::encoding_utf8);
    if (!good) {
      log.documents.pop_back();
      log.cut = true;
    }
    begin = next;
  }
  if (!log.documents.empty()) return log;
  return Error{Code::kMalformed, "nvidia-smi's XML is cut short or broken"};
}

std::optional<std::string> text_of(const pugi::xml_node& gpu, const char* path) {
  auto text = script::clean(gpu.first_element_by_path(path).text().get());
  return text.empty() ? std::nullopt : std::optional{std::move(text)};
}

std::optional<double> amount_of(std::string_view text, std::string_view unit) {
  if (!text.ends_with(unit)) return std::nullopt;
  return script::finite(text.substr(0, text.size() - unit.size()));
}

std::optional<double> flag_of(std::string_view text) {
  if (text == "Enabled" || text == "Yes" || text == "Active" || text == "1") return 1;
  if (text == "Disabled" || text == "No" || text == "Not Active" || text == "0") return 0;
  return std::nullopt;
}

}  // namespace cupel::burnin
