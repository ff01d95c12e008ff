#include "orchestrator/engine/dispatcher.h"

#include <algorithm>

#include "inventory/model.h"
#include "inventory/node.h"
#include "orchestrator/engine/dispatcher_state.h"
#include "playbooks/plan.h"

namespace cupel::engine {
namespace {

using namespace std::chrono_literals;

/// A measured value says nothing any more after this, and what it taught about the next load
/// after that, so that one wrong sensor does not keep a node waiting for ever.
constexpr auto kMeasuredFor = 5min;
constexpr auto kTaughtFor = 1h;

}  // namespace

Dispatcher::Dispatcher(Limits limits) : state_{std::make_unique<State>()} {
  state_->limits = std::move(limits);
}

Dispatcher::~Dispatcher() = default;

ResourceId Dispatcher::State::add(Resource::Kind kind, std::uint32_t index, std::int64_t capacity) {
  auto& fresh = resources.emplace_back();
  fresh.kind = kind;
  fresh.index = index;
  fresh.capacity = capacity;
  return static_cast<ResourceId>(resources.size() - 1);
}

Dispatcher::State::NodeId Dispatcher::State::intern(const inventory::Node& node) {
  const auto id = tree.node(node);
  while (lock_resource.size() <= id) {
    lock_resource.push_back(
        add(Resource::Kind::lock, static_cast<std::uint32_t>(lock_resource.size()), 1));
    offers_of_node.emplace_back();
    measured_as.push_back(0);
  }
  return id;
}

void Dispatcher::know(const inventory::Inventory& inventory) {
  auto& s = *state_;
  s.tree.know(inventory);
  for (const auto& node : inventory.nodes) s.intern(node);
  const auto& levels = s.tree.levels();
  for (auto i = s.level_resource.size(); i < levels.size(); ++i) {
    const auto index = static_cast<std::uint32_t>(i);
    s.level_resource.push_back(s.add(Resource::Kind::level, index, 0));
    const bool breaker = levels[i].kind == inventory::PowerNode::Kind::breaker;
    s.ramp_resource.push_back(breaker ? s.add(Resource::Kind::ramp, index, 1) : kNoResource);
  }
  for (std::size_t i = 0; i < levels.size(); ++i)
    s.resources[s.level_resource[i]].capacity = s.capacity_of(levels[i]);
  s.look_again();
}

void Dispatcher::let_go(const inventory::Inventory& inventory) { state_->tree.let_go(inventory); }

void Dispatcher::limit(const std::map<std::string, int, std::less<>>& slots) {
  auto& s = *state_;
  for (const auto& [name, count] : slots) {
    const auto [known, fresh] = s.limits.slots.try_emplace(name, count);
    if (!fresh) known->second = std::min(known->second, count);
  }
  for (auto& resource : s.resources)
    if (resource.kind == Resource::Kind::slots)
      resource.capacity = s.limits.slots.at(resource.claim);
  s.look_again();
}

/// After a limit became smaller, or more nodes idle: all that waits, anew.
void Dispatcher::State::look_again() {
  for (const auto ticket : std::vector<Ticket>{waiting.begin(), waiting.end()}) {
    auto& entry = entries.at(ticket);
    unpark(entry);
    entry.needs_changed = true;
    if (auto why = impossible(entry.offer)) {
      withdraw_reservation(entry);
      waiting.erase(ticket);
      entry.phase = Entry::Phase::never;
      entry.never = std::move(*why);
    } else {
      to_candidates(entry);
    }
  }
}

std::int64_t Dispatcher::State::free(const Resource& resource) const {
  if (resource.kind == Resource::Kind::level)
    return resource.capacity - tree.levels()[resource.index].drawn;
  return resource.capacity - resource.used;
}

void Dispatcher::State::mark(ResourceId id) {
  auto& resource = resources[id];
  if (resource.dirty || (resource.waiting.empty() && resource.granted.empty())) return;
  resource.dirty = true;
  dirty.push_back(id);
}

void Dispatcher::State::needs_of_claims(const Offer& offer, std::vector<Need>& into) {
  for (const auto& claim : offer.step->claims) {
    const auto limit = limits.slots.find(claim.resource);
    if (limit == limits.slots.end()) continue;
    for (const auto* node : offer.nodes) {
      auto name = slot_name(claim, *node);
      const auto [found, fresh] = slot_resource.try_emplace(name, kNoResource);
      if (fresh) {
        found->second = add(Resource::Kind::slots, 0, limit->second);
        resources.back().name = std::move(name);
        resources.back().claim = claim.resource;
      }
      const auto same = std::ranges::find(into, found->second, &Need::resource);
      if (same == into.end()) into.push_back({found->second, claim.count});
    }
  }
}

void Dispatcher::State::needs_of_power(const Entry& entry, std::vector<Need>& into) {
  const double load = entry.offer.step->load;
  const bool ramps_up = load >= kHighLoad && limits.ramp.count() > 0;
  const auto first = static_cast<std::ptrdiff_t>(into.size());
  std::vector<Need> ramping;
  for (const auto node : entry.members) {
    const auto more = tree.would_draw(node, load) - tree.drawn(node);
    for (const auto level : tree.above(node)) {
      if (more > 0) into.push_back({level_resource[level], more});
      const auto ramp = ramp_resource[level];
      if (ramps_up && ramp != kNoResource) ramping.push_back({ramp, 1});
    }
  }
  if (entry.members.size() > 1) {
    // Levels of several nodes as one need each; the narrowest, the highest kind, stay first.
    const auto order = [&](const Need& need) {
      const auto index = resources[need.resource].index;
      return std::pair{-static_cast<int>(tree.levels()[index].kind), index};
    };
    std::sort(into.begin() + first, into.end(),
              [&](const Need& a, const Need& b) { return order(a) < order(b); });
    auto last = into.begin() + first;
    for (auto it = last; it != into.end(); ++it) {
      if (it == last) continue;
      if (it->resource == last->resource)
        last->amount += it->amount;
      else
        *++last = *it;
    }
    if (last != into.end()) into.erase(last + 1, into.end());
    std::ranges::sort(ramping, {}, &Need::resource);
    const auto same = std::ranges::unique(ramping);
    ramping.erase(same.begin(), same.end());
  }
  into.insert(into.end(), ramping.begin(), ramping.end());
}

void Dispatcher::State::find_needs(Entry& entry) {
  if (!entry.needs_changed) return;
  entry.needs_changed = false;
  entry.needs.clear();
  for (const auto node : entry.members) entry.needs.push_back({lock_resource[node], 1});
  std::vector<Need> claims;
  needs_of_claims(entry.offer, claims);
  entry.needs.insert(entry.needs.end(), claims.begin(), claims.end());
  needs_of_power(entry, entry.needs);
}

Dispatcher::Ticket Dispatcher::offer(Offer offer, Time now) {
  auto& s = *state_;
  const auto ticket = ++s.last_ticket;
  auto& entry = s.entries[ticket];
  entry.offer = std::move(offer);
  entry.offered = now;
  for (const auto* node : entry.offer.nodes) entry.members.push_back(s.intern(*node));
  std::ranges::sort(entry.members);
  const auto twice = std::ranges::unique(entry.members);
  entry.members.erase(twice.begin(), twice.end());
  const auto first = entry.members.empty() ? 0 : entry.members.front();
  entry.rank = {-entry.offer.remaining_path.count(), first, ticket};
  if (entry.offer.under_way) {
    for (const auto node : entry.members) s.offers_of_node[node].insert(ticket);
    s.find_needs(entry);
    s.begin(entry, now);
    s.under_way.push_back(ticket);
    return ticket;
  }
  if (auto why = s.impossible(entry.offer)) {
    entry.phase = Entry::Phase::never;
    entry.never = std::move(*why);
    return ticket;
  }
  for (const auto node : entry.members) s.offers_of_node[node].insert(ticket);
  s.waiting.insert(ticket);
  s.to_candidates(entry);
  return ticket;
}

void Dispatcher::State::to_candidates(Entry& entry) {
  entry.phase = Entry::Phase::candidate;
  candidates[entry.offer.priority][entry.offer.run].insert(entry.rank);
}

/// No longer parked, and no longer a candidate.
void Dispatcher::State::unpark(Entry& entry) {
  if (entry.phase == Entry::Phase::parked) {
    auto& classes = resources[entry.at].waiting;
    const auto found = classes.find(entry.key);
    found->second.members.erase(entry.rank);
    if (found->second.members.empty() && !found->second.out) classes.erase(found);
    entry.at = kNoResource;
  } else if (entry.phase == Entry::Phase::candidate) {
    const auto of_priority = candidates.find(entry.offer.priority);
    const auto of_run = of_priority->second.find(entry.offer.run);
    of_run->second.erase(entry.rank);
    if (of_run->second.empty()) of_priority->second.erase(of_run);
    if (of_priority->second.empty()) candidates.erase(of_priority);
    resolved(entry, true);
  }
}

/// It was looked at as the best of its class: now the next one of it may be, if `look_on`.
void Dispatcher::State::resolved(Entry& entry, bool look_on) {
  if (entry.at == kNoResource) return;
  auto& classes = resources[entry.at].waiting;
  const auto found = classes.find(entry.key);
  found->second.out = false;
  if (found->second.members.empty()) classes.erase(found);
  if (look_on) mark(entry.at);
  entry.at = kNoResource;
}

void Dispatcher::State::park(Entry& entry, const Need& need) {
  const ClassKey key{need.amount, entry.offer.priority, entry.offer.run};
  const bool same = entry.at == need.resource && entry.key == key;
  resources[need.resource].waiting[key].members.insert(entry.rank);
  resolved(entry, !same);
  entry.phase = Entry::Phase::parked;
  entry.at = need.resource;
  entry.key = key;
}

void Dispatcher::State::pull(ResourceId id, Resource& resource) {
  const auto room = free(resource);
  for (const auto& reservation : resource.granted) {
    auto& entry = entries.at(reservation.ticket);
    if (entry.phase != Entry::Phase::parked || entry.at != id) continue;
    unpark(entry);
    to_candidates(entry);
  }
  for (auto& [key, of_class] : resource.waiting) {
    if (std::get<0>(key) > room) break;
    if (of_class.out || of_class.members.empty()) continue;
    auto& entry = entries.at(of_class.members.begin()->ticket);
    of_class.members.erase(of_class.members.begin());
    of_class.out = true;
    to_candidates(entry);
  }
}

void Dispatcher::State::wake() {
  while (!dirty.empty()) {
    const auto id = dirty.back();
    dirty.pop_back();
    resources[id].dirty = false;
    pull(id, resources[id]);
  }
}

Entry* Dispatcher::State::best() {
  if (candidates.empty()) return nullptr;
  const auto of_priority = candidates.begin();
  auto found = of_priority->second.end();
  std::size_t least = 0;
  for (auto it = of_priority->second.begin(); it != of_priority->second.end(); ++it) {
    const auto counted = running_nodes.find(it->first);
    const auto running = counted == running_nodes.end() ? 0 : counted->second;
    const bool first = found == of_priority->second.end();
    if (!first &&
        (running > least || (running == least && *found->second.begin() < *it->second.begin())))
      continue;
    found = it;
    least = running;
  }
  auto& entry = entries.at(found->second.begin()->ticket);
  found->second.erase(found->second.begin());
  if (found->second.empty()) of_priority->second.erase(found);
  if (of_priority->second.empty()) candidates.erase(of_priority);
  return &entry;
}

void Dispatcher::State::consider(Entry& entry, Time now, std::vector<Ticket>& begun) {
  find_needs(entry);
  for (const auto& need : entry.needs) {
    if (fits(entry, need, now)) continue;
    park(entry, need);
    return;
  }
  resolved(entry, true);
  begin(entry, now);
  begun.push_back(entry.rank.ticket);
}

void Dispatcher::State::begin(Entry& entry, Time now) {
  const auto ticket = entry.rank.ticket;
  entry.phase = Entry::Phase::running;
  entry.began = now;
  entry.began_as = ++last_began;
  waiting.erase(ticket);
  withdraw_reservation(entry);
  note_passed_over(entry, now);
  for (const auto& need : entry.needs) {
    auto& resource = resources[need.resource];
    if (resource.kind == Resource::Kind::level) continue;
    resource.used += need.amount;
    if (resource.kind == Resource::Kind::lock) resource.holder = ticket;
    if (resource.kind == Resource::Kind::ramp) ramps.emplace(now + limits.ramp, need.resource);
  }
  for (const auto node : entry.members) tree.works(node, entry.offer.step->load);
  running_nodes[entry.offer.run] += entry.members.size();
  for (const auto node : entry.members)
    for (const auto other : offers_of_node[node]) entries.at(other).needs_changed = true;
}

/// What a running one holds.
void Dispatcher::State::release(Entry& entry) {
  for (const auto& need : entry.needs) {
    auto& resource = resources[need.resource];
    if (resource.kind == Resource::Kind::level || resource.kind == Resource::Kind::ramp) continue;
    resource.used -= need.amount;
    if (resource.kind == Resource::Kind::lock) resource.holder = 0;
    mark(need.resource);
  }
  for (const auto node : entry.members) {
    measured_as[node] = 0;  // what was measured was measured of this work
    tree.rests(node);
    draw_changed(node);
  }
  const auto counted = running_nodes.find(entry.offer.run);
  counted->second -= entry.members.size();
  if (counted->second == 0) running_nodes.erase(counted);
}

/// The watts that are reckoned for this node have changed: those that wait for watts are looked at
/// again.
void Dispatcher::State::draw_changed(NodeId node) {
  for (const auto level : tree.above(node)) mark(level_resource[level]);
  for (const auto ticket : offers_of_node[node]) {
    auto& entry = entries.at(ticket);
    entry.needs_changed = true;
    if (entry.phase != Entry::Phase::parked) continue;
    unpark(entry);
    to_candidates(entry);
  }
}

void Dispatcher::ended(Ticket ticket, Time now) {
  auto& s = *state_;
  const auto found = s.entries.find(ticket);
  if (found == s.entries.end()) return;
  auto& entry = found->second;
  for (const auto node : entry.members) s.offers_of_node[node].erase(ticket);
  if (entry.phase == Entry::Phase::running) {
    s.release(entry);
  } else if (entry.phase != Entry::Phase::never) {
    s.unpark(entry);
    s.waiting.erase(ticket);
    s.withdraw_reservation(entry);
  }
  s.entries.erase(found);
  s.advance(now);
}

void Dispatcher::State::advance(Time now) {
  while (!ramps.empty() && ramps.begin()->first <= now) {
    const auto id = ramps.begin()->second;
    ramps.erase(ramps.begin());
    resources[id].used = 0;
    mark(id);
  }
  while (!measured.empty() && measured.front().until <= now) {
    const auto old = measured.front();
    measured.pop_front();
    if (measured_as[old.node] != old.as) continue;
    tree.forget(old.node);
    draw_changed(old.node);
  }
  while (!taught.empty() && taught.front().until <= now) {
    const auto old = taught.front();
    taught.pop_front();
    tree.unlearn(old.node, old.as);
    draw_changed(old.node);
  }
}

std::vector<Dispatcher::Ticket> Dispatcher::start(Time now) {
  auto& s = *state_;
  s.advance(now);
  s.look_for_the_oldest(now);
  if (!s.overdue.empty()) s.grant(now);
  auto begun = std::exchange(s.under_way, {});
  for (;;) {
    s.wake();
    auto* entry = s.best();
    if (entry == nullptr) return begun;
    s.consider(*entry, now, begun);
  }
}

std::optional<Dispatcher::Time> Dispatcher::next_look() const {
  const auto& s = *state_;
  if (!s.candidates.empty() || !s.dirty.empty()) return Time::min();
  std::optional<Time> next;
  for (const auto& [until, id] : s.ramps) {
    if (s.resources[id].waiting.empty()) continue;
    next = until;
    break;
  }
  if (s.waiting.empty()) return next;
  for (const auto* beliefs : {&s.measured, &s.taught})
    if (!beliefs->empty() && (!next || beliefs->front().until < *next))
      next = beliefs->front().until;
  return next;
}

void Dispatcher::measured(std::string_view name, double watts, Time now) {
  auto& s = *state_;
  s.advance(now);
  const auto* node = s.tree.find(name);
  if (node == nullptr || *node >= s.measured_as.size()) return;
  const auto as = ++s.last_measured;
  s.measured_as[*node] = as;
  s.measured.push_back({now + kMeasuredFor, *node, as});
  if (s.tree.measured(*node, milliwatts(watts), as))
    s.taught.push_back({now + kTaughtFor, *node, as});
  s.draw_changed(*node);
}

std::map<std::string, double> Dispatcher::draw() const {
  std::map<std::string, double> drawn;
  for (const auto& level : state_->tree.levels())
    drawn[level.name] += static_cast<double>(level.drawn) / 1000;
  return drawn;
}

}  // namespace cupel::engine
