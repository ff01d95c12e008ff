#include "burnin/fabric/discovery/ufm_rest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include "base/text.h"

namespace cupel::burnin {
namespace {

using inventory::guid_of;
using inventory::SeenDevice;
using inventory::SeenFabricBuilder;
using Kind = SeenDevice::Kind;

constexpr int kMostPorts = 1024;  // of a device; a director has 800

std::optional<int> port_number(const json::value& record, std::string_view key) {
  const auto value = number_at(record, key);
  if (!value || !(*value >= 0 && *value <= kMostPorts)) return std::nullopt;
  return static_cast<int>(*value);
}

/// "4x"; "IB_4x" before UFM 6.12.
int width_of(std::string_view text) {
  if (text.starts_with("IB_")) text.remove_prefix(3);
  const auto end = text.find_first_not_of("0123456789");
  return number<int>(text.substr(0, end)).value_or(0);
}

/// What UFM knows of a port beside its links. By its name, "GUID_NUMBER".
struct Port {
  std::uint64_t guid = 0;
  int number = 0;
  std::string description{}, speed{}, physical{}, logical{};
};

std::optional<Port> port_of(const json::value& record) {
  const auto guid = guid_of(text_at(record, "guid").value_or(""));
  const auto at = port_number(record, "number");
  if (!guid || !at) return std::nullopt;
  const auto text = [&](std::string_view key) { return text_at(record, key).value_or(""); };
  return Port{*guid,
              *at,
              text("node_description"),
              text("active_speed"),
              text("physical_state"),
              text("logical_state")};
}

/// Of a port, by its name; `otherwise` where that has none.
std::uint64_t guid_in_name(std::string_view name, std::uint64_t otherwise) {
  return guid_of(name.substr(0, name.find('_'))).value_or(otherwise);
}

struct End {
  std::uint64_t guid = 0;  // of the system
  std::uint64_t own = 0;   // of the port
  int port = 0;
  std::string name{};         // "900a840300ac8c40_5"
  std::string description{};  // "leaf1-r3:7/1", "n05 mlx5_3"
  std::string label{};        // "7/1", "HCA-1/1"
};

class Reader {
 public:
  Reader(const json::value& ports, const json::value& systems) {
    if (ports.is_array())
      for (const auto& record : ports.get_array())
        if (auto port = port_of(record))
          if (const auto name = text_at(record, "name")) ports_.insert_or_assign(*name, *port);
    if (systems.is_array())
      for (const auto& record : systems.get_array())
        if (const auto guid = guid_of(text_at(record, "guid").value_or("")))
          types_[*guid] = text_at(record, "type").value_or("");
  }

  Result<inventory::SeenFabric> read(const json::array& links) {
    if (links.size() > inventory::kMostLinks)
      return Error{Code::kMalformed, fmt::format("UFM lists {} links; at most {} are read",
                                                 links.size(), inventory::kMostLinks)};
    for (const auto& record : links) take(record);
    if (passed_over_ > 0)
      into_.doubt(
          fmt::format("UFM lists {} links without a GUID and a port at both ends", passed_over_));
    find_shared();
    for (const auto& link : found_) add(link);
    for (const auto& [name, port] : ports_) add_down(name, port);
    return std::move(into_).finish("UFM");
  }

 private:
  struct Link {
    End from{}, to{};
    int width = 0;
  };

  /// `side`: "source" or "destination".
  std::optional<End> end_of(const json::value& record, const std::string& side) const {
    const auto guid = guid_of(text_at(record, side + "_guid").value_or(""));
    const auto port = port_number(record, side + "_port");
    if (!guid || !port) return std::nullopt;
    End end{.guid = *guid, .port = *port};
    end.name = text_at(record, side + "_port_name").value_or("");
    end.description = text_at(record, side + "_port_node_description").value_or("");
    end.label = text_at(record, side + "_port_dname").value_or("");
    return end;
  }

  /// "900a840300ac8c40_5:9c0591030085abc0_5": the halves are in no certain order, and their GUIDs
  /// are those of ports. Older UFM name the ports of a link nowhere else.
  static void name_ends(const json::value& record, End& one, End& other) {
    const auto names = text_at(record, "name").value_or("");
    const auto colon = names.find(':');
    if (colon == names.npos || !one.name.empty()) return;
    auto first = names.substr(0, colon), second = names.substr(colon + 1);
    const auto is_of = [](const std::string& name, const End& end) {
      return name.ends_with(fmt::format("_{}", end.port));
    };
    const auto begins = [](const std::string& name, const End& end) {
      return name.starts_with(inventory::guid_text(end.guid));
    };
    const bool swapped = one.port == other.port ? begins(first, other) || begins(second, one)
                                                : is_of(first, other) && is_of(second, one);
    if (swapped) std::swap(first, second);
    one.name = std::move(first);
    other.name = std::move(second);
  }

  void complete(End& end) const {
    end.own = guid_in_name(end.name, end.guid);
    const auto known = ports_.find(end.name);
    if (known != ports_.end() && end.description.empty())
      end.description = known->second.description;
  }

  void take(const json::value& record) {
    auto one = end_of(record, "source"), other = end_of(record, "destination");
    if (!one || !other) {
      ++passed_over_;
      return;
    }
    name_ends(record, *one, *other);
    complete(*one);
    complete(*other);
    found_.push_back(
        {std::move(*one), std::move(*other), width_of(text_at(record, "width").value_or(""))});
  }

  /// Where a host's HCAs all have its system's GUID, that of the port tells them apart.
  void find_shared() {
    std::map<std::uint64_t, std::set<std::string>> names;
    for (const auto& link : found_)
      for (const auto* end : {&link.from, &link.to})
        if (!is_switch(*end)) names[end->guid].insert(end->description);
    for (const auto& [guid, described] : names)
      if (described.size() > 1) shared_.insert(guid);
  }

  /// As UFM lists it, else by the port's label at the end of a switch's description.
  bool is_switch(const End& end) const {
    const auto type = types_.find(end.guid);
    if (type != types_.end() && !type->second.empty()) return type->second == "switch";
    return !end.label.empty() && end.description.ends_with(":" + end.label);
  }

  std::size_t device(const End& end) {
    const bool at_switch = is_switch(end);
    std::string_view description = end.description;
    // "leaf1-r3:7/1": without the port's label, which may not be taken for a chip of a director.
    if (at_switch && !end.label.empty() && description.ends_with(":" + end.label))
      description.remove_suffix(end.label.size() + 1);
    const auto guid = shared_.contains(end.guid) ? end.own : end.guid;
    devices_.insert_or_assign(end.own, guid);
    const bool first = listed_.insert(guid).second;
    return into_.device(guid, at_switch ? Kind::switch_device : Kind::hca, description, first);
  }

  void add(const Link& link) {
    const auto from = device(link.from), to = device(link.to);
    std::string speed;
    for (const auto* end : {&link.from, &link.to})
      if (const auto port = ports_.find(end->name); port != ports_.end() && speed.empty())
        speed = upper_speed(port->second.speed);
    into_.link({from, link.from.port}, {to, link.to.port}, link.width, speed);
  }

  /// "NDR"; nothing of what is no speed of InfiniBand's.
  static std::string upper_speed(std::string_view text) {
    constexpr std::array<std::string_view, 9> kSpeeds{"SDR", "DDR", "QDR", "FDR",  "EDR",
                                                      "HDR", "NDR", "XDR", "FDR10"};
    const auto found = std::ranges::find(kSpeeds, text);
    return found == kSpeeds.end() ? std::string{} : std::string{*found};
  }

  /// Of a device with a link: others are absent altogether.
  void add_down(const std::string& name, const Port& port) {
    if (port.logical != "Down") return;
    const auto at = devices_.find(guid_in_name(name, port.guid));
    if (at == devices_.end()) return;
    const auto index = into_.device(at->second, Kind::hca, "", false);
    into_.down({index, port.number}, printable(valid_utf8("Down/" + port.physical)));
  }

  std::map<std::string, Port> ports_{};
  std::unordered_map<std::uint64_t, std::string> types_{};
  std::vector<Link> found_{};
  std::size_t passed_over_ = 0;
  std::set<std::uint64_t> shared_{}, listed_{};
  std::unordered_map<std::uint64_t, std::uint64_t> devices_{};  // GUID of a port: of its device
  SeenFabricBuilder into_{};
};

}  // namespace

Result<inventory::SeenFabric> parse_ufm_rest(const json::value& links, const json::value& ports,
                                             const json::value& systems) {
  if (!links.is_array())
    return Error{Code::kMalformed,
                 "UFM's links are no list: see what it answers to GET "
                 "resources/links"};
  return Reader{ports, systems}.read(links.get_array());
}

}  // namespace cupel::burnin
