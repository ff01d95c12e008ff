#pragma once
// What was ordered against what was seen, part by part and machine by machine. Pure.
#include <map>
#include <span>
#include <string>
#include <vector>

#include "inventory/asset_list.h"

namespace cupel::inventory {

/// What each machine has reported, its own chassis among them (PartKind::system).
using SeenAssets = std::map<std::string, std::vector<Part>, std::less<>>;

enum class AssetState {
  missing,      // its machine was seen, and it was not
  not_read,     // nothing says whether it is there: what would report it has not been read
  elsewhere,    // it is in another machine
  moved,        // it is in another slot
  wrong_model,  // it is another thing than was ordered
  extra,        // it was not ordered: of kinds that the list has for that machine
  twice,        // two machines report this serial number
};

std::string_view to_string(AssetState state);

struct AssetFinding {
  AssetState state{};
  std::string node{};
  PartKind kind{};
  std::string serial{};
  std::string expected{}, observed{};
  std::string order{};
  Place where{};  // of the list; line 0 for what is not in it
  friend bool operator==(const AssetFinding&, const AssetFinding&) = default;
};

/// One kind of thing under several words: a drive may be listed as NVMe and reported as a drive, an
/// HCA as a NIC.
PartKind counted_as(PartKind kind);

/// Whether a network interface is a port of that card, whose serial number is known: one part,
/// though the interface reports its MAC for a serial number.
bool is_port_of(const Part& interface, const Part& card);

/// In the list's order, then what is in no list. `unread`: what machines had reported by a source
/// that has failed since; a part without name and serial number there stands for all of its kind,
/// which could not be listed in full. An asset of these, or of a kind of which its machine reports
/// no serial number at all, was not read, and is not missing.
std::vector<AssetFinding> compare_assets(std::span<const Asset> list, const SeenAssets& seen,
                                         const SeenAssets& unread = {});

/// How far the delivery of one machine has come.
struct Arrival {
  std::string node{};
  std::size_t expected = 0, here = 0;
  std::vector<std::string> due{};  // "gpu 165..., due 2026-12-01 (PO 4711)", "psu P1, not read"
  bool is_seen = false;            // it has reported anything
  bool can_start() const { return is_seen && here == expected; }
};

/// By machine, in the list's order. Assets without a machine count for none; what was not read
/// counts as not here, and says so.
std::vector<Arrival> arrivals_of(std::span<const Asset> list, const SeenAssets& seen,
                                 const SeenAssets& unread = {});

}  // namespace cupel::inventory
