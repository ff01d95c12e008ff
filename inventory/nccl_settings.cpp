#include "inventory/nccl_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cupel::inventory {

Result<std::map<std::string, std::string>> nccl_environment(std::string_view text) {
  constexpr std::size_t kMost = 64, kLongest = 200;
  constexpr std::array<std::string_view, 5> kOurs{
      "NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_DEBUG_SUBSYS", "NCCL_COMM_ID", "NCCL_SOCKET_IFNAME"};
  std::map<std::string, std::string> all;
  for (const auto word : words(text)) {
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    const bool is_name =
        equals != word.npos && name.starts_with("NCCL_") && std::ranges::all_of(name, [](char c) {
          return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        });
    const auto value = is_name ? word.substr(equals + 1) : std::string_view{};
    const bool is_value = is_name && std::ranges::all_of(value, [](unsigned char c) {
                            return std::isalnum(c) != 0 ||
                                   std::string_view{"_.,:;=^/+-%"}.contains(static_cast<char>(c));
                          });
    const bool is_ours = std::ranges::find(kOurs, name) != kOurs.end();
    if (!is_value || is_ours || word.size() > kLongest || all.size() == kMost)
      return Error{Code::kInvalid,
                   fmt::format("environment must be NAME=VALUE of NCCL's variables, separated by "
                               "blanks (NCCL_IB_SL=1), without {}, not '{}'",
                               fmt::join(kOurs, ", "), shortened(printable(word), 80))};
    all[std::string{name}] = value;
  }
  return all;
}

Result<std::string> network_interface(std::string_view text) {
  constexpr std::size_t kLongest = 15;  // IFNAMSIZ, less the end
  const bool sound = !text.empty() && text.size() <= kLongest && text != "." && text != ".." &&
                     std::ranges::all_of(text, [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
                     });
  if (sound) return std::string{text};
  return Error{Code::kInvalid, fmt::format("interface must be a network interface, not '{}'",
                                           shortened(printable(text), 80))};
}

}  // namespace cupel::inventory
