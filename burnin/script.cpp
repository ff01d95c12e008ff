#include "burnin/script.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"

namespace cupel::burnin::script {
namespace {

constexpr std::string_view kGaveUp = "cupel-gave-up: ";
constexpr std::string_view kBegin = "cupel-begin: ", kEnd = "cupel-end";
constexpr std::size_t kLongestWord = 160;
constexpr std::size_t kMostSections = 1024;

}  // namespace

std::optional<std::string_view> after_mark_in(std::string_view text, std::string_view mark) {
  for (const auto line : lines(text))
    if (line.starts_with(mark)) return line.substr(mark.size());
  return std::nullopt;
}

std::string head() {
  return "PATH=/opt/cupel/bin:$PATH:/usr/local/bin:/usr/sbin:/sbin\n"
         "LC_ALL=C\n"
         "export PATH LC_ALL\n";
}

std::string needs(std::string_view tool) {
  return fmt::format(
      "if ! command -v {0} >/dev/null 2>&1; then\n"
      "  echo '{1}{0} is not installed on the node'\n"
      "  exit 69\n"
      "fi\n",
      tool, kGaveUp);
}

std::string asks(std::string_view what, double amount) {
  return fmt::format("echo 'cupel-asked-{}: {:.0f}'\n", what, amount);
}

Result<void> check_gave_up(const Output& output) {
  const auto why = after_mark(output, kGaveUp);
  if (why) return Error{Code::kNoMeasurement, clean(*why)};
  return ok();
}

std::optional<double> asked(const Output& output, std::string_view what) {
  const auto amount = after_mark_in(output.text, fmt::format("cupel-asked-{}: ", what));
  return amount ? finite(*amount) : std::nullopt;
}

std::optional<std::string_view> after_mark(const Output& output, std::string_view mark) {
  return after_mark_in(output.text, mark);
}

std::vector<Section> sections(std::string_view text) {
  std::vector<Section> all;
  bool inside = false;
  for (const auto line : lines(text)) {
    if (line.starts_with(kBegin)) {
      if (all.size() == kMostSections) break;
      // Views of the same text: a section begins behind the line that names it.
      const auto at = static_cast<std::size_t>(line.data() + line.size() - text.data());
      all.push_back(
          {clean(line.substr(kBegin.size())), text.substr(std::min(at + 1, text.size()))});
      inside = true;
    } else if (line == kEnd && inside) {
      auto& last = all.back();
      last.text = last.text.substr(0, static_cast<std::size_t>(line.data() - last.text.data()));
      last.whole = true;
      inside = false;
    }
  }
  return all;
}

std::string clean(std::string_view text) {
  auto word = printable(shortened(trimmed(text), 4 * kLongestWord));
  for (char& c : word)
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  return shortened(trimmed(word), kLongestWord);
}

std::optional<double> finite(std::string_view text) {
  const auto value = number<double>(trimmed(text));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

namespace {

/// A line for us, such as `cupel-end`. What our own programs complain of begins alike.
bool is_mark(std::string_view line) {
  return line.starts_with("cupel-") && !line.starts_with("cupel-node: ") &&
         !line.starts_with("cupel-burn: ");
}

}  // namespace

std::string complaint(const Output& output) {
  for (const auto text : {std::string_view{output.errors}, std::string_view{output.text}})
    for (const auto line : lines(text))
      if (!trimmed(line).empty() && !is_mark(line)) return clean(line);
  return "it said nothing";
}

}  // namespace cupel::burnin::script
