// Who may go before whom: reservations for those that were passed over too long, and who is paused
// when a level draws too much.
#include <algorithm>

#include "orchestrator/engine/dispatcher_state.h"
#include "playbooks/plan.h"

namespace cupel::engine {
namespace {

/// So many may wait for a reservation at a time; the next ones come when these have begun.
constexpr std::size_t kMostOverdue = 64;

}  // namespace

bool Dispatcher::State::fits(const Entry& entry, const Need& need, Time now) const {
  const auto& resource = resources[need.resource];
  const auto room = free(resource);
  if (need.amount > room) return false;
  if (resource.reserved == 0) return true;
  // Of two that have it reserved only the earlier one counts against the other, so that the very
  // first never waits for what is merely kept.
  std::int64_t others = 0;
  bool through_before = true;
  for (const auto& reservation : resource.granted) {
    const auto& first = entries.at(reservation.ticket);
    if (entry.granted && first.overdue_as >= entry.overdue_as) continue;
    others += reservation.amount;
    through_before &= now + entry.offer.step->expected <= first.shadow;
  }
  return need.amount <= room - others || (through_before && !entry.granted);
}

/// Those of a higher rank that lack something of which this one has just taken.
void Dispatcher::State::note_passed_over(const Entry& began, Time now) {
  for (const auto& need : began.needs) {
    auto& resource = resources[need.resource];
    if (resource.kind == Resource::Kind::ramp) continue;
    for (auto& [key, of_class] : resource.waiting) {
      if (of_class.members.empty() || std::get<1>(key) < began.offer.priority) continue;
      auto& head = entries.at(of_class.members.begin()->ticket);
      const bool before = std::get<1>(key) > began.offer.priority || head.rank < began.rank;
      if (!before) continue;
      if (!head.passed_over) head.passed_over = now;
      if (now - *head.passed_over >= limits.patience) make_overdue(head, now);
    }
  }
}

void Dispatcher::State::look_for_the_oldest(Time now) {
  if (waiting.empty()) return;
  auto& oldest = entries.at(*waiting.begin());
  if (now - oldest.offered >= limits.longest_wait) make_overdue(oldest, now);
}

void Dispatcher::State::make_overdue(Entry& entry, Time now) {
  if (entry.overdue || overdue.size() >= kMostOverdue) return;
  find_needs(entry);
  entry.overdue = true;
  entry.overdue_as = ++last_overdue;
  entry.kept.clear();
  for (const auto& need : entry.needs) {
    auto& resource = resources[need.resource];
    if (resource.kind == Resource::Kind::ramp) continue;
    entry.kept.push_back(need);
    resource.overdue.push_back(entry.rank.ticket);
  }
  overdue.push_back(entry.rank.ticket);
  grant(now);
}

/// Keeps what they need for those that are first, or for which there is enough besides what the
/// ones before them need: first come, first served, so that each gets its turn.
void Dispatcher::State::grant(Time now) {
  for (const auto ticket : overdue) {
    auto& entry = entries.at(ticket);
    if (entry.granted) continue;
    const bool possible = std::ranges::all_of(entry.kept, [&](const Need& need) {
      const auto& resource = resources[need.resource];
      if (resource.overdue.front() == ticket) return true;
      auto before = need.amount;
      for (const auto other : resource.overdue) {
        if (other == ticket) break;
        const auto& kept = entries.at(other).kept;
        before += std::ranges::find(kept, need.resource, &Need::resource)->amount;
      }
      return before <= free(resource);
    });
    if (!possible) continue;
    entry.granted = true;
    entry.shadow = could_begin(entry, now);
    for (const auto& need : entry.kept) {
      auto& resource = resources[need.resource];
      resource.granted.push_back({ticket, need.amount});
      resource.reserved += need.amount;
      mark(need.resource);
    }
  }
}

void Dispatcher::State::withdraw_reservation(Entry& entry) {
  if (!entry.overdue) return;
  const auto ticket = entry.rank.ticket;
  for (const auto& need : entry.kept) {
    auto& resource = resources[need.resource];
    std::erase(resource.overdue, ticket);
    if (!entry.granted) continue;
    std::erase_if(resource.granted, [&](const Reservation& r) { return r.ticket == ticket; });
    resource.reserved -= need.amount;
    mark(need.resource);
  }
  std::erase(overdue, ticket);
  entry.overdue = entry.granted = false;
  entry.kept.clear();
}

/// When, by what is expected of those that run, there is enough of everything.
Dispatcher::Time Dispatcher::State::could_begin(const Entry& entry, Time now) const {
  struct Giving {
    Time when;
    std::int64_t amount;
  };
  auto latest = now;
  std::unordered_map<ResourceId, std::vector<Giving>> lacking;
  for (const auto& need : entry.kept)
    if (need.amount > free(resources[need.resource])) lacking.try_emplace(need.resource);
  if (lacking.empty()) return latest;
  for (const auto& [ticket, other] : entries) {
    if (other.phase != Entry::Phase::running) continue;
    const auto end = std::max(now, other.began + other.offer.step->expected);
    for (const auto& held : other.needs) {
      const auto found = lacking.find(held.resource);
      if (found != lacking.end()) found->second.push_back({end, held.amount});
    }
  }
  for (const auto& need : entry.kept) {
    const auto found = lacking.find(need.resource);
    if (found == lacking.end()) continue;
    auto& giving = found->second;
    std::ranges::sort(giving, {}, &Giving::when);
    auto room = free(resources[need.resource]);
    for (const auto& each : giving) {
      if (room >= need.amount) break;
      room += each.amount;
      latest = std::max(latest, each.when);
    }
  }
  return latest;
}

std::vector<Dispatcher::Ticket> Dispatcher::State::to_shed(PowerTree::LevelId level) const {
  struct Loaded {
    bool idle;  // what is to draw is not known to be started: it may lose nothing
    std::uint64_t began_as;
    Ticket ticket;
    Milliwatts gives;
    auto operator<=>(const Loaded&) const = default;
  };
  std::vector<Loaded> loaded;
  auto over = -free(resources[level_resource[level]]);
  for (const auto& [ticket, entry] : entries) {
    if (entry.phase != Entry::Phase::running) continue;
    Milliwatts gives = 0;
    for (const auto node : entry.members)
      if (std::ranges::find(tree.above(node), level) != tree.above(node).end())
        gives += tree.drawn(node) - tree.expected(node, 0);
    if (entry.shed) over -= gives;
    if (entry.shed || gives <= 0 || entry.offer.step->load <= 0) continue;
    // Of what a controller that is gone began, only its power tells whether it came to its start.
    const auto seen = [&](NodeId node) { return tree.seen_to_draw(node, entry.offer.step->load); };
    const bool draws = entry.draws || std::ranges::any_of(entry.members, seen);
    loaded.push_back({!draws, entry.began_as, ticket, gives});
  }
  std::ranges::sort(loaded, std::ranges::greater{});
  std::vector<Loaded> chosen;
  for (const auto& each : loaded) {
    if (over <= 0) break;
    chosen.push_back(each);
    over -= each.gives;
  }
  // The last one may have given so much that an earlier one need not.
  std::vector<Ticket> shed;
  for (auto it = chosen.rbegin(); it != chosen.rend(); ++it) {
    if (over + it->gives <= 0)
      over += it->gives;
    else
      shed.insert(shed.begin(), it->ticket);
  }
  return shed;
}

std::vector<Dispatcher::Ticket> Dispatcher::shed(Time now) {
  auto& s = *state_;
  s.advance(now);
  // What is paused for a breaker may be enough for its rack: the narrowest levels first.
  std::vector<PowerTree::LevelId> over;
  for (PowerTree::LevelId level = 0; level < s.level_resource.size(); ++level)
    if (s.free(s.resources[s.level_resource[level]]) < 0) over.push_back(level);
  std::ranges::stable_sort(over, std::ranges::greater{},
                           [&](auto level) { return s.tree.levels()[level].kind; });
  std::vector<Ticket> all;
  for (const auto level : over) {
    for (const auto ticket : s.to_shed(level)) {
      s.entries.at(ticket).shed = true;
      all.push_back(ticket);
    }
  }
  return all;
}

void Dispatcher::draws(Ticket ticket) {
  const auto found = state_->entries.find(ticket);
  if (found != state_->entries.end()) found->second.draws = true;
}

}  // namespace cupel::engine
