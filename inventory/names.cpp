#include "inventory/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace cupel::inventory {
namespace {

constexpr std::size_t kLongestLabel = 63;
constexpr std::size_t kLongestHost = 253;
constexpr std::size_t kMostShownOfName = 80;

/// Slurm takes them in any case: `scontrol update NodeName=ALL` changes every node, DEFAULT is the
/// template of slurm.conf. Source: man scontrol, man slurm.conf (22.05).
constexpr std::array<std::string_view, 5> kReservedNames{"all", "any", "default", "none", "null"};

constexpr std::string_view word_of(Named what) {
  switch (what) {
    case Named::node:
      return "node name";
    case Named::slurm_node:
      return "Slurm name";
    case Named::host:
      return "host name";
    case Named::rack:
      return "rack name";
    case Named::room:
      return "room name";
    case Named::pdu:
      return "PDU name";
    case Named::breaker:
      return "breaker name";
    case Named::partition:
      return "partition";
    case Named::job:
      return "job name";
    case Named::reservation:
      return "reservation";
    case Named::feature:
      return "feature";
    case Named::gpu_type:
      return "GPU type";
    case Named::user:
      return "user";
    case Named::profile:
      return "profile name";
    case Named::playbook:
      return "playbook name";
    case Named::group:
      return "group name";
  }
  return "name";
}

constexpr bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool may_hold(Named what, char c) {
  if (is_letter_or_digit(c) || c == '-' || c == '.' || c == '_') return true;
  return what == Named::user && (c == '@' || c == '+' || c == '\\');
}

bool is_reserved(Named what, std::string_view name) {
  const bool read_by_slurm = what == Named::node || what == Named::slurm_node ||
                             what == Named::partition || what == Named::feature;
  return read_by_slurm &&
         std::ranges::find(kReservedNames, lower_case(name)) != kReservedNames.end();
}

std::optional<std::string> fault_in_length(Named what, std::string_view name) {
  const bool labels = what == Named::node || what == Named::host;
  const auto most = labels ? kLongestHost : kLongestLabel;
  if (name.size() > most) return fmt::format("has {} characters: at most {}", name.size(), most);
  for (const auto label : split(name, '.')) {
    if (what == Named::user) break;
    if (label.empty()) return "has an empty part between dots";
    if (label.size() > kLongestLabel)
      return fmt::format("has a part of {} characters: at most {}", label.size(), kLongestLabel);
  }
  return std::nullopt;
}

std::optional<std::string> fault_of(Named what, std::string_view name) {
  if (name.empty()) return "is empty";
  for (const char c : name)
    if (!may_hold(what, c))
      return fmt::format("may have letters, digits, '-', '.'{} '_' only",
                         what == Named::user ? ", '@', '+', '\\' and" : " and");
  const bool starts = is_letter_or_digit(name[0]) || (what == Named::user && name[0] == '_');
  if (!starts) return "must begin with a letter or a digit";
  if (auto fault = fault_in_length(what, name)) return fault;
  if (is_reserved(what, name))
    return "is a word with a meaning of its own for Slurm and --nodes: choose another";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> fault_in_name(Named what, std::string_view name) {
  const auto fault = fault_of(what, name);
  if (!fault) return std::nullopt;
  return fmt::format("{} '{}' {}", word_of(what), shortened(printable(name), kMostShownOfName),
                     *fault);
}

std::optional<std::string> fault_in_names(Named what, std::span<const std::string> names) {
  for (const auto& name : names)
    if (auto fault = fault_in_name(what, name)) return fault;
  return std::nullopt;
}

}  // namespace cupel::inventory
