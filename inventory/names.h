#pragma once
// Which names a site may give to its nodes, racks, breakers, partitions, users and the like. They
// stand in command lines, in slurm.conf, in paths and in reports, so the grammar is narrow. Pure.
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace cupel::inventory {

/// What a name is given to.
enum class Named {
  node,
  slurm_node,
  host,  // what a machine calls itself
  rack,
  room,
  pdu,
  breaker,
  partition,
  job,
  reservation,
  feature,
  gpu_type,
  user,
  profile,
  playbook,
  group
};

/// "node name 'ALL' is a word of Slurm: choose another"; nothing where the name can be used.
///
/// Letters, digits, '-', '.' and '_', the first one a letter or a digit, no empty part between
/// dots. Nodes and hosts: parts of at most 63 characters, 253 in all (RFC 1123, 2.1); all others 63
/// in all. A user may also begin with '_' and have '@', '+' and '\'. Nodes, Slurm names, partitions
/// and features must not be a word that Slurm or `--nodes` take for several or for none: all, any,
/// default, none, null, in whatever case.
std::optional<std::string> fault_in_name(Named what, std::string_view name);

/// The first fault in these names.
std::optional<std::string> fault_in_names(Named what, std::span<const std::string> names);

}  // namespace cupel::inventory
