#include "burnin/node/drive_health.h"

#include <array>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

constexpr std::string_view kSource = "smartctl -j -A";
constexpr std::string_view kBegin = "cupel-smart: ", kEnd = "cupel-smart-end";

struct Field {
  std::string_view path, measure, unit;
};
constexpr std::array kFields{
    Field{"percentage_used", "nvme.used", "%"},
    Field{"available_spare", "nvme.spare", "%"},
    Field{"media_errors", "nvme.media_errors", "errors"},
    Field{"critical_warning", "nvme.warnings", ""},
};

void add_drive(const std::string& drive, std::string_view document, Findings& findings) {
  const auto read = parse_json(document);
  if (!read) {
    findings.unknown.push_back({"health of " + drive, std::string{kSource}, "not reported"});
    return;
  }
  const auto* log = find(*read, "nvme_smart_health_information_log");
  for (const auto& field : kFields) {
    const auto* value = log == nullptr ? nullptr : find(*log, field.path);
    const auto number = value != nullptr && value->is_number()
                            ? std::optional{value->to_number<double>()}
                            : std::nullopt;
    if (number && std::isfinite(*number))
      findings.measurements.push_back(
          {std::string{field.measure}, drive, *number, std::string{field.unit}});
    else
      findings.unknown.push_back(
          {std::string{field.measure} + " of " + drive, std::string{kSource}, "absent"});
  }
}

}  // namespace

void add_drive_health(const std::string& drive, std::string_view document, Findings& findings) {
  add_drive(drive, document, findings);
  const auto read = parse_json(document);
  const auto celsius =
      read ? number_at(*read, "nvme_smart_health_information_log/temperature") : std::nullopt;
  if (celsius && *celsius > 0 && *celsius < 200)
    findings.measurements.push_back({"nvme.temperature", drive, *celsius, "C"});
}

void add_drive_health(std::string_view text, Findings& findings) {
  constexpr std::size_t kMostDrives = 256;
  std::size_t drives = 0;
  auto begin = text.find(kBegin);
  while (begin != text.npos && drives < kMostDrives) {
    const auto line_end = text.find('\n', begin);
    if (line_end == text.npos) break;
    const auto end = std::min(text.find(kEnd, line_end), text.size());
    const auto drive =
        script::clean(text.substr(begin + kBegin.size(), line_end - begin - kBegin.size()));
    add_drive(drive, text.substr(line_end + 1, end - line_end - 1), findings);
    ++drives;
    begin = text.find(kBegin, end);
  }
  if (drives == 0)
    findings.unknown.push_back({"health of the drives", std::string{kSource},
                                "smartctl is not installed, or there is no NVMe drive"});
}

}  // namespace cupel::burnin
