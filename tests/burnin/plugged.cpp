#include "tests/burnin/plugged.h"

#include <fmt/format.h>

#include <optional>

#include "inventory/fabric_audit.h"

namespace cupel::testing {

using inventory::CableEnd;
using inventory::FabricMap;

Plugged::Plugged(const inventory::Fabric& plan) : plan_{plan} {
  const FabricMap map{plan};
  for (const auto& cable : plan.cables) {
    planned_[cable.from] = cable.to;
    planned_[cable.to] = cable.from;
    connect(cable.from, cable.to);
  }
  constexpr int kPorts = 64;
  for (const auto& one : plan.switches)
    for (int port = 1; port <= kPorts; ++port) {
      const CableEnd end{one.name, "", port};
      labels_[end_text(map, end)] = end;
    }
  for (const auto& node : plan.nodes)
    for (const auto& hca : node.hcas)
      labels_[end_text(map, {node.name, hca, 1})] = {node.name, hca, 1};
}

void Plugged::connect(const End& one, const End& other) {
  plugs_[one] = {cables_, false};
  plugs_[other] = {cables_, true};
  ++cables_;
  const FabricMap map{plan_};
  for (const auto& end : {one, other}) labels_.try_emplace(end_text(map, end), end);
}

void Plugged::exchange(const End& one, const End& other) {
  const auto of_one = plugs_.extract(one), of_other = plugs_.extract(other);
  if (of_one) plugs_[other] = of_one.mapped();
  if (of_other) plugs_[one] = of_other.mapped();
  const FabricMap map{plan_};
  for (const auto& end : {one, other}) labels_.try_emplace(end_text(map, end), end);
}

void Plugged::take_out(const End& one) {
  const auto found = plugs_.find(one);
  if (found == plugs_.end()) return;
  const int cable = found->second.cable;
  std::erase_if(plugs_, [&](const auto& plug) { return plug.second.cable == cable; });
}

bool Plugged::is_right(const End& end) const {
  const auto planned = planned_.find(end);
  const auto here = plugs_.find(end);
  if (planned == planned_.end() || here == plugs_.end()) return false;
  const auto there = plugs_.find(planned->second);
  return there != plugs_.end() && there->second.cable == here->second.cable;
}

std::size_t Plugged::wrong() const {
  std::size_t count = 0;
  for (const auto& cable : plan_.cables) count += is_right(cable.from) ? 0 : 1;
  return count;
}

const CableEnd* Plugged::end_named(std::string_view text) const {
  const auto found = labels_.find(text);
  return found == labels_.end() ? nullptr : &found->second;
}

std::string Plugged::take(const End& end, Plug& into) {
  const auto found = plugs_.find(end);
  if (found == plugs_.end()) return "there is no plug to take out";
  if (is_right(end)) return "a plug that is right was taken out";
  into = found->second;
  plugs_.erase(found);
  return {};
}

std::string Plugged::put(const Plug& plug, const End& end) {
  return plugs_.try_emplace(end, plug).second ? "" : "the port is taken";
}

std::string Plugged::obey_sentence(std::string_view sentence) {
  const auto between = [&](std::string_view begin,
                           std::string_view middle) -> std::optional<std::pair<End, End>> {
    if (!sentence.starts_with(begin)) return std::nullopt;
    const auto rest = sentence.substr(begin.size());
    const auto at = rest.rfind(middle);
    if (at == rest.npos) return std::nullopt;
    const auto *one = end_named(rest.substr(0, at)),
               *other = end_named(rest.substr(at + middle.size()));
    if (one == nullptr || other == nullptr) return std::nullopt;
    return std::pair{*one, *other};
  };
  Plug plug, second;
  if (const auto both = between("Swap the plugs in ", " and ")) {
    if (auto why = take(both->first, plug); !why.empty()) return why;
    if (auto why = take(both->second, second); !why.empty()) return why;
    if (auto why = put(plug, both->second); !why.empty()) return why;
    return put(second, both->first);
  }
  if (const auto both = between("Move the plug in ", " to ")) {
    if (auto why = take(both->first, plug); !why.empty()) return why;
    return put(plug, both->second);
  }
  if (const auto both = between("First unplug the cable between ", " and ")) {
    if (auto why = take(both->first, plug); !why.empty()) return why;
    return take(both->second, second);
  }
  if (const auto both = between("First unplug ", " from ")) return take(both->second, plug);
  constexpr std::string_view kUnplug = "Unplug ", kFirst = "Plug the first one into ";
  if (sentence.starts_with(kUnplug)) {
    const auto* end = end_named(sentence.substr(kUnplug.size()));
    if (end == nullptr) return "no port is named so";
    hand_.emplace_back();
    return take(*end, hand_.back());
  }
  if (sentence.starts_with(kFirst) && !hand_.empty()) {
    const auto* end = end_named(sentence.substr(kFirst.size()));
    if (end == nullptr) return "no port is named so";
    plug = hand_.back();
    hand_.pop_back();
    return put(plug, *end);
  }
  return "the sentence is not understood";
}

std::string Plugged::obey(std::string_view instruction) {
  while (!instruction.empty()) {
    const auto end = instruction.find(". ");
    auto sentence = instruction.substr(0, end);
    instruction.remove_prefix(end == instruction.npos ? instruction.size() : end + 2);
    if (sentence.ends_with('.')) sentence.remove_suffix(1);
    if (sentence.starts_with("Or ")) break;  // another way to do the same
    if (auto why = obey_sentence(sentence); !why.empty())
      return fmt::format("{} ({})", why, sentence);
  }
  return {};
}

std::map<Plugged::Plug, CableEnd> Plugged::places() const {
  std::map<Plug, End> all;
  for (const auto& [end, plug] : plugs_) all[plug] = end;
  return all;
}

inventory::SeenFabric Plugged::seen() const {
  using inventory::SeenDevice;
  inventory::SeenFabricBuilder builder;
  std::map<std::string, std::uint64_t> guids;
  const auto device = [&](const CableEnd& end) {
    const auto name =
        end.at_switch() ? "MF0;" + end.device + ":MQM9700/U1" : end.device + " " + end.hca;
    const auto guid = guids.try_emplace(name, guids.size() + 1).first->second;
    return builder.device(guid,
                          end.at_switch() ? SeenDevice::Kind::switch_device : SeenDevice::Kind::hca,
                          name, false);
  };
  const auto all = places();
  for (const auto& [plug, end] : all) {
    const auto other = all.find({plug.cable, true});
    if (plug.second || other == all.end()) continue;
    builder.link({device(end), end.port}, {device(other->second), other->second.port}, 4, "NDR");
  }
  return *std::move(builder).finish("ibnetdiscover");
}

}  // namespace cupel::testing
