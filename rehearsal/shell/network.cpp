#include "rehearsal/shell/network.h"

#include <algorithm>

namespace cupel::rehearsal {

std::optional<std::string> Network::node_at(std::string_view address) const {
  const auto found = nodes_.find(address);
  return found == nodes_.end() ? std::nullopt : std::optional{found->second};
}

ListenerPtr Network::listen(const std::string& node, int port, ProcessPtr process) {
  const auto [place, fresh] = listeners_.try_emplace({node, port});
  if (!fresh) return nullptr;
  place->second = std::make_shared<Listener>();
  place->second->process = std::move(process);
  place->second->node = node;
  return place->second;
}

ListenerPtr Network::meet(const std::string& node, int port) {
  const auto found = listeners_.find({node, port});
  if (found == listeners_.end()) return nullptr;
  auto listener = found->second;
  listeners_.erase(found);
  listener->met = true;
  return listener;
}

void Network::close(const ListenerPtr& listener) {
  std::erase_if(listeners_, [&](const auto& entry) { return entry.second == listener; });
}

NcclMeetingPtr Network::open_meeting(const std::string& id) {
  return meetings_[id] = std::make_shared<NcclMeeting>();
}

NcclMeetingPtr Network::meeting(const std::string& id) const {
  const auto found = meetings_.find(id);
  return found == meetings_.end() || !found->second->is_reached ? nullptr : found->second;
}

std::size_t NcclMeeting::ranks() const {
  std::size_t all = 0;
  for (const auto& [base, member] : members) all += member.ranks;
  return all;
}

bool NcclMeeting::is_through() const {
  return std::ranges::all_of(members, [](const auto& each) { return each.second.is_through; });
}

void NcclMeeting::wake() const {
  for (const auto& [base, member] : members) member.process->wake();
}

}  // namespace cupel::rehearsal
