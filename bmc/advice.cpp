#include "bmc/advice.h"

#include <algorithm>
#include <array>

namespace cupel::bmc {

bool is_of_rack(std::string_view name) {
  constexpr std::array<std::string_view, 4> kKinds{"compute", "switch", "shelf", "cdu"};
  const auto slash = name.find('/');
  if (slash == name.npos) return false;
  const auto device = name.substr(slash + 1);
  return std::ranges::any_of(kKinds, [&](auto kind) { return device.starts_with(kind); });
}

std::string advice_to_retry(const std::string& name) {
  if (!is_of_rack(name)) return "run: cupel bmc " + name + " retry-login";
  return "run: cupel rack show " + name.substr(0, name.find('/')) + " --retry-logins";
}

std::string advice_to_accept(const std::string& name, std::string_view presented) {
  if (!is_of_rack(name)) return "run: cupel bmc " + name + " accept-certificate";
  return "write it into the inventory, where the device stands: tls: {pin: \"" +
         std::string{presented} + "\"}";
}

}  // namespace cupel::bmc
