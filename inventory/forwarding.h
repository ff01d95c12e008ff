#pragma once
// Which port of a switch leads to which HCA: the forwarding tables that the subnet manager gave the
// switches, as tools print them. Pure.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace cupel::inventory {

class ForwardingTables {
 public:
  /// Number of the port by which the switch sends what is for port 1 of that HCA. Names are
  /// compared without regard to case; a node may be known by its host name without the domain.
  /// Nothing where no table has it, or two tables of the switch differ.
  std::optional<int> port_to(std::string_view switch_name, std::string_view node,
                             std::string_view hca) const;

  /// They are of another day than the cables: no uplink is to be named by them.
  void mark_stale(std::string why) { stale_ = std::move(why); }
  /// Why; empty: nothing says so.
  const std::string& stale() const { return stale_; }

  bool empty() const { return switches_.empty(); }
  std::size_t switches() const { return switches_.size(); }
  std::size_t hcas() const { return lids_.size(); }
  /// What was not understood, and what is missing; at most 20.
  const std::vector<std::string>& doubts() const { return doubts_; }

 private:
  friend class ForwardingReader;
  struct Entry {
    std::uint16_t lid = 0;
    std::uint8_t port = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::map<std::string, std::vector<Entry>, std::less<>> switches_{};  // each ascending by LID
  std::map<std::string, std::uint16_t, std::less<>> lids_{};           // by "n01 mlx5_0"
  std::vector<std::string> doubts_{};
  std::string stale_{};
};

/// Of `dump_fts`, of `ibroute` of several switches one after the other, or of ibdiagnet's file of
/// unicast tables (ibdiagnet2.fdbs) together with what `ibnetdiscover` prints: the last has only
/// GUIDs and LIDs. Errors: kMalformed above 256 MiB or 150,000 tables; kNoMeasurement where there
/// is no table, or none of an HCA. A last line without its end is not read: it may be cut off.
/// Source: infiniband-diags 44, dump_fts.c and ibroute.c; ibdiagnet 2.
Result<ForwardingTables> parse_forwarding(std::string_view text);

}  // namespace cupel::inventory
