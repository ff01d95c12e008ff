#include "bmc/bios.h"

#include "base/text.h"

namespace cupel::bmc {

std::string to_text(const BiosValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return plain(*real, 6);
  return printable(std::get<std::string>(value));
}

bool same_setting(const BiosValue& one, const BiosValue& other) {
  return one == other || to_text(one) == to_text(other);
}

BiosValues differing(const BiosValues& requested, const BiosSettings& settings) {
  BiosValues different;
  for (const auto& [name, value] : requested) {
    const auto waiting = settings.pending.find(name);
    const auto now = settings.current.find(name);
    const bool waits = waiting != settings.pending.end();
    const auto& will = waits ? waiting : now;
    const bool reported = waits || now != settings.current.end();
    if (!reported || !same_setting(will->second, value)) different.emplace(name, value);
  }
  return different;
}

}  // namespace cupel::bmc
