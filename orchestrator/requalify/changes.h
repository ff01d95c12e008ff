#pragma once
// What is otherwise in a machine than it was: two records of it, taken by two runs, side by side.
// Pure. What follows for its evidence is for burnin/criteria/requalify_rules.h.
#include <map>
#include <span>
#include <string>
#include <vector>

#include "burnin/criteria/requalify_rules.h"
#include "orchestrator/record/node_record.h"

namespace cupel::requalify {

/// By who reported them: "stage gpu-facts", "the BMC". Names are a source's own.
using PartsBySource = std::map<std::string, std::vector<inventory::Part>, std::less<>>;

/// The last reading of each stage counts: it has what is there now.
PartsBySource parts_by_source(const record::NodeRecord& record);

/// The part of `now` in the place in which `then`, an earlier reading of the same source, has
/// `like`: by slot where both readings name it once, since a kernel may number drives anew at each
/// boot; else by name. nullptr: none is there.
const inventory::Part* in_place_of(const inventory::Part& like,
                                   const std::vector<inventory::Part>& then,
                                   const std::vector<inventory::Part>& now);

/// Parts by place (in_place_of) and serial number, slots, models, sizes, versions, and what the
/// BIOS is set to. A part is compared with what the same source (the BMC, a stage) reported of it:
/// what only one of two records has from a source is no change. Each change once, whoever reported
/// it.
std::vector<burnin::Change> changes_between(const record::NodeRecord& before,
                                            const record::NodeRecord& after);

/// Sources that reported parts before and do not any more: "the BMC", "stage gpu-facts". What they
/// would say is not known, and so neither whether it changed.
std::vector<std::string> silent_sources(const record::NodeRecord& before,
                                        const record::NodeRecord& after);

/// "the BMC could not list all dimms: URI: HTTP 500": of what is missing there nothing is a change.
/// Pure.
std::vector<std::string> partial_sources(const record::NodeRecord& record);

/// What a person says was replaced: a part's name ("gpu3", "dimm A7"), "cable:mlx5_5", or "bmc",
/// "bios", "driver", "kernel". Errors: kInvalid: no part of the record is called so, with the
/// nearest name.
Result<burnin::Change> declared_change(const record::NodeRecord& before, const std::string& what);

/// By name, or by the serial number that the part had: its name may be another's now.
bool is_of_same_part(const burnin::Change& declared, const burnin::Change& seen);

/// Those that were declared and not seen: the part reports the serial number that it had.
std::vector<std::string> unseen(std::span<const burnin::Change> declared,
                                std::span<const burnin::Change> seen);

}  // namespace cupel::requalify
