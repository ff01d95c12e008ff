#include "inventory/forwarding.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "inventory/seen_fabric.h"

namespace cupel::inventory {
namespace {

constexpr std::size_t kLargest = 256u << 20, kMostDoubts = 20, kLongestShown = 80;
constexpr std::uint64_t kLastUnicastLid = 0xbfff;  // IBA volume 1, 4.1.3
constexpr int kMostPorts = 254;                    // 255: no way leads there

/// What is between the first `open` and the last `close` after it.
std::string_view between(std::string_view text, char open, char close) {
  const auto begin = text.find(open), end = text.rfind(close);
  if (begin == text.npos || end == text.npos || end <= begin) return {};
  return text.substr(begin + 1, end - begin - 1);
}

std::optional<std::uint64_t> number_at(std::string_view text, int base, std::string_view& rest) {
  std::uint64_t value = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (failure != std::errc{}) return std::nullopt;
  rest = text.substr(static_cast<std::size_t>(stop - text.data()));
  return value;
}

/// "n01 mlx5_0" of a node description; empty where it names no node and HCA.
std::string key_of(std::string_view node, std::string_view hca) {
  return lower_case(node) + " " + lower_case(hca);
}

std::string_view without_domain(std::string_view node) { return node.substr(0, node.find('.')); }

}  // namespace

class ForwardingReader {
 public:
  Result<ForwardingTables> read(std::string_view text) {
    if (text.size() > kLargest)
      return Error{Code::kMalformed, "forwarding tables: more than 256 MiB"};
    // A line that is cut may have another port: 01 of 017.
    const auto end = text.rfind('\n');
    const auto whole = text.substr(0, end == text.npos ? 0 : end);
    if (whole.size() + 1 < text.size()) doubt("the last line has no end, and was not read");
    for (const auto line : lines(whole)) read_line(trimmed(line));
    end_table();
    if (too_many_)
      return Error{Code::kMalformed,
                   fmt::format("forwarding tables: more than {} switches", kMostDevices)};
    name_by_guid();
    if (made_.switches_.empty())
      return Error{Code::kNoMeasurement,
                   "no forwarding table: it should be the output of dump_fts, of ibroute, or "
                   "ibdiagnet2.fdbs followed by what ibnetdiscover prints"};
    if (made_.lids_.empty())
      return Error{Code::kNoMeasurement,
                   "the forwarding tables name no HCA: run dump_fts without -n, or put what "
                   "ibnetdiscover prints into the same file"};
    return std::move(made_);
  }

 private:
  using Entry = ForwardingTables::Entry;
  struct Table {
    std::string name{};
    std::uint64_t guid = 0;
    std::vector<Entry> entries{};
  };

  void doubt(std::string text) {
    if (made_.doubts_.size() < kMostDoubts) made_.doubts_.push_back(std::move(text));
  }

  void read_line(std::string_view line) {
    if (line.starts_with("Unicast lids ")) return begin_of_ibroute(line);
    if (line.contains("ucast_mgr_dump") && line.contains(": Switch 0x")) return begin_of_fdbs(line);
    if (line.starts_with("Multicast")) return end_table();
    if (line.starts_with("0x") && table_) return read_entry(line);
    if (line.starts_with("Ca\t") || line.starts_with("Ca ")) {
      end_table();
      description_ = std::string{between(after_hash(line), '"', '"')};
      return;
    }
    if (line.starts_with("Switch\t") || line.starts_with("Switch ")) return read_switch(line);
    if (line.starts_with("[") && !description_.empty()) return read_port_of_hca(line);
    if (line.empty()) description_.clear();
  }

  static std::string_view after_hash(std::string_view line) {
    const auto hash = line.find('#');
    return hash == line.npos ? std::string_view{} : line.substr(hash + 1);
  }

  /// Unicast lids [0x0-0x15b] of switch Lid 5 guid 0xb0cf0e0300000700 (MF0;leaf1-r1:MQM9700/U1):
  void begin_of_ibroute(std::string_view line) {
    end_table();
    const auto at = line.find(" guid 0x");
    if (at == line.npos) return doubt("no GUID: " + shown(line));
    begin(guid_in(line.substr(at + 6)), switch_name(between(line.substr(at), '(', ')')));
  }

  /// osm_ucast_mgr_dump_ucast_routes: Switch 0x0002c9030068ec10
  void begin_of_fdbs(std::string_view line) {
    end_table();
    begin(guid_in(line.substr(line.find("Switch ") + 7)), {});
  }

  static std::uint64_t guid_in(std::string_view text) {
    return guid_of(text.substr(0, text.find(' '))).value_or(0);
  }

  void begin(std::uint64_t guid, std::string name) {
    too_many_ = too_many_ || tables_ >= kMostDevices;
    if (too_many_) return;
    ++tables_;
    table_ = Table{std::move(name), guid, {}};
    description_.clear();
  }

  /// 0x0002 017 : (Channel Adapter portguid 0xa088c20300000000: 'n01 mlx5_0')
  /// 0x0002 : 017  : 00   : yes
  void read_entry(std::string_view line) {
    std::string_view rest;
    const auto lid = number_at(line.substr(2), 16, rest);
    if (!lid || *lid == 0 || *lid > kLastUnicastLid) return doubt("no unicast LID: " + shown(line));
    rest = trimmed(rest);
    if (rest.starts_with(":")) rest = trimmed(rest.substr(1));
    if (rest.starts_with("UNREACHABLE")) return;
    std::string_view after;
    const auto port = number_at(rest, 10, after);
    const bool ends = after.empty() || after.front() == ' ' || after.front() == ':';
    if (!port || !ends || after.size() + 3 > rest.size()) return doubt("no port: " + shown(line));
    if (*port > kMostPorts) return;
    table_->entries.push_back({static_cast<std::uint16_t>(*lid), static_cast<std::uint8_t>(*port)});
    if (after.contains("(Channel Adapter portguid")) name(between(after, '\'', '\''), *lid);
  }

  /// Of ibnetdiscover: Switch 65 "S-b0cf0e0300000700"  # "leaf1-r1" enhanced port 0 lid 5 lmc 0
  void read_switch(std::string_view line) {
    end_table();
    description_.clear();
    const auto at = line.find("\"S-");
    if (at == line.npos) return;
    const auto digits = line.substr(at + 3);
    const auto guid = guid_of(digits.substr(0, digits.find('"')));
    if (guid && names_.size() < kMostDevices)
      names_.try_emplace(*guid, switch_name(between(after_hash(line), '"', '"')));
  }

  /// Below a Ca: [1](a088c20300000000)  "S-b0cf0e0300000700"[17]  # lid 2 lmc 0 "leaf1-r1" lid 5
  /// 4xNDR
  void read_port_of_hca(std::string_view line) {
    const auto hash = after_hash(line);
    const auto at = hash.find("lid ");
    std::string_view rest;
    if (!line.starts_with("[1]") || at == hash.npos) return;
    if (const auto lid = number_at(trimmed(hash.substr(at + 4)), 10, rest))
      name(description_, *lid);
  }

  void name(std::string_view description, std::uint64_t lid) {
    const auto parts = words(description);
    if (parts.size() != 2 || lid == 0 || lid > kLastUnicastLid) return;
    if (made_.lids_.size() >= kMostDevices) return;
    const auto known = static_cast<std::uint16_t>(lid);
    for (const auto node : {std::string_view{parts[0]}, without_domain(parts[0])}) {
      const auto [at, fresh] = made_.lids_.try_emplace(key_of(node, parts[1]), known);
      if (fresh || at->second == known || at->second == 0) continue;
      at->second = 0;  // two of one name: neither is it
      doubt(shown(description) + " has two LIDs: two HCAs of one name");
    }
  }

  void end_table() {
    if (!table_) return;
    auto& entries = table_->entries;
    std::ranges::stable_sort(entries, {}, &Entry::lid);
    const auto same = std::ranges::unique(entries);
    entries.erase(same.begin(), same.end());
    if (!entries.empty() && !table_->name.empty())
      keep(std::move(table_->name), std::move(entries));
    else if (!entries.empty())
      by_guid_.emplace_back(table_->guid, std::move(entries));
    table_.reset();
  }

  void keep(std::string name, std::vector<Entry> entries) {
    const auto key = lower_case(name);
    const auto [at, fresh] = made_.switches_.try_emplace(key, std::move(entries));
    if (fresh || at->second == entries) return;
    doubt(shown(name) + " has two tables that differ: neither is used");
    at->second.clear();
  }

  /// Tables of ibdiagnet have GUIDs alone.
  void name_by_guid() {
    for (auto& [guid, entries] : std::exchange(by_guid_, {})) {
      const auto found = names_.find(guid);
      if (found == names_.end())
        doubt(fmt::format("no switch with GUID {} in what ibnetdiscover printed", guid_text(guid)));
      else
        keep(found->second, std::move(entries));
    }
  }

  static std::string shown(std::string_view text) {
    return "'" + shortened(printable(valid_utf8(text)), kLongestShown) + "'";
  }

  ForwardingTables made_{};
  std::optional<Table> table_{};
  std::string description_{};  // of the HCA whose ports follow
  std::unordered_map<std::uint64_t, std::string> names_{};
  std::vector<std::pair<std::uint64_t, std::vector<Entry>>> by_guid_{};
  std::size_t tables_ = 0;
  bool too_many_ = false;
};

Result<ForwardingTables> parse_forwarding(std::string_view text) {
  return ForwardingReader{}.read(text);
}

std::optional<int> ForwardingTables::port_to(std::string_view switch_name, std::string_view node,
                                             std::string_view hca) const {
  const auto table = switches_.find(lower_case(switch_name));
  if (table == switches_.end()) return std::nullopt;
  auto lid = lids_.find(key_of(node, hca));
  if (lid == lids_.end()) lid = lids_.find(key_of(without_domain(node), hca));
  if (lid == lids_.end() || lid->second == 0) return std::nullopt;
  const auto [first, last] = std::ranges::equal_range(table->second, lid->second, {}, &Entry::lid);
  if (last - first != 1) return std::nullopt;  // none, or two that differ
  return first->port;
}

}  // namespace cupel::inventory
