#include "burnin/agent/node/stages/together.h"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <ranges>
#include <set>

#include "base/result.h"

namespace cupel::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::array<std::string_view, 2> kCompanions{"cpu", "memory"};
constexpr seconds kEarly{60};
constexpr milliseconds kLongestSpan{3'600'000};

/// The node's programs as one stage of several sees them. It waits for what it has started itself;
/// whoever holds this has the answer.
class SharedPrograms final : public Programs {
 public:
  SharedPrograms(Programs& programs, const StageClock& clock)
      : programs_{programs}, clock_{clock} {}

  std::string folder_of(const std::string& name) const override {
    return programs_.folder_of(name);
  }
  int start(const Command& command) override {
    const int number = programs_.start(command);
    running_.insert(number);
    return number;
  }

  const std::set<int>& running() const { return running_; }
  /// Which one the stage waits to have stopped.
  std::optional<int> to_stop() const { return stops_ ? std::optional{number_} : std::nullopt; }
  std::optional<milliseconds> due() const {
    return first_ == nullptr ? std::nullopt : std::optional{until_};
  }
  /// One that it started has ended. Resumes the stage where it waits for that.
  void take(Ended ended) {
    running_.erase(ended.number);
    if (ran_ != nullptr && ended.number == number_) {
      stops_ = false;
      auto* wait = std::exchange(ran_, nullptr);
      wait->answer(std::move(ended.ran));
      return wait->resume();
    }
    ended_.push_back(std::move(ended));
    if (first_ == nullptr) return;
    auto* wait = std::exchange(first_, nullptr);
    wait->answer(take_first());
    wait->resume();
  }
  void pass(milliseconds now) {
    if (first_ == nullptr || now < until_) return;
    std::exchange(first_, nullptr)->resume();
  }

 private:
  bool begin(const Command& command, Wait<Ran>& wait) override {
    number_ = start(command);
    ran_ = &wait;
    return false;
  }
  bool begin_first_end(milliseconds span, Wait<std::optional<Ended>>& wait) override {
    if (!ended_.empty()) {
      wait.answer(take_first());
      return true;
    }
    until_ = clock_.now() + span;
    first_ = &wait;
    return false;
  }
  bool begin_stop(int number, Wait<Ran>& wait) override {
    if (running_.contains(number)) {
      number_ = number;
      stops_ = true;
      ran_ = &wait;
      return false;
    }
    const auto found = std::ranges::find(ended_, number, &Ended::number);
    if (found == ended_.end()) return true;
    wait.answer(std::move(found->ran));
    ended_.erase(found);
    return true;
  }
  Ended take_first() {
    auto first = std::move(ended_.front());
    ended_.pop_front();
    return first;
  }

  Programs& programs_;
  const StageClock& clock_;
  std::set<int> running_{};
  std::deque<Ended> ended_{};  // and nobody has asked for them yet
  int number_ = 0;             // of the one that it waits for by `ran_`
  bool stops_ = false;
  milliseconds until_{};
  Wait<Ran>* ran_ = nullptr;
  Wait<std::optional<Ended>>* first_ = nullptr;
};

class SharedClock final : public StageClock {
 public:
  explicit SharedClock(const StageClock& clock) : clock_{clock} {}

  milliseconds now() const override { return clock_.now(); }
  milliseconds until_next_look(milliseconds span) const override {
    return clock_.until_next_look(span);
  }
  std::optional<milliseconds> due() const {
    return wait_ == nullptr ? std::nullopt : std::optional{until_};
  }
  void pass(milliseconds now) {
    if (wait_ == nullptr || now < until_) return;
    std::exchange(wait_, nullptr)->resume();
  }

 private:
  bool begin(milliseconds span, Wait<Passed>& wait) override {
    until_ = now() + span;
    wait_ = &wait;
    return false;
  }
  const StageClock& clock_;
  milliseconds until_{};
  Wait<Passed>* wait_ = nullptr;
};

/// Without a name: those of the stage that the job is about.
class SharedLines final : public StageLines {
 public:
  SharedLines(StageLines& lines, std::string name) : lines_{lines}, name_{std::move(name)} {}

  void write(const JsonLine& line) override {
    if (name_.empty()) return lines_.write(line);
    auto named = line;
    lines_.write(named.add("of", std::string_view{name_}));
  }

 private:
  StageLines& lines_;
  std::string name_;
};

/// One stage of several. Its frames go before what they use.
class Member {
 public:
  Member(Node& of, std::string name)
      : programs{of.programs, of.clock},
        clock{of.clock},
        lines{of.lines, std::move(name)},
        node{of.tree, programs, clock, lines, of.scratch, of.job} {}

  void pass(milliseconds now) {
    programs.pass(now);
    clock.pass(now);
  }
  milliseconds due() const {
    constexpr auto kNever = milliseconds::max();
    return std::min(programs.due().value_or(kNever), clock.due().value_or(kNever));
  }

  SharedPrograms programs;
  SharedClock clock;
  SharedLines lines;
  Node node;
  std::optional<Work<GaveUp>> work{};
};

using Members = std::vector<std::unique_ptr<Member>>;

struct CompanionOrder {
  std::string stage{};
  JsonValue order{};
};

/// Its own lines say it where it gave up.
Work<GaveUp> run_companion(Node& node, CompanionOrder companion) {
  co_await run_stage(node, std::move(companion.stage), std::move(companion.order));
  co_return {};
}

/// None where the order names none. Errors: kInvalid.
Result<std::vector<CompanionOrder>> companions_in(const JsonValue& order) {
  const Error wrong{Code::kInvalid,
                    "the order has no beside that is a list of the stages cpu and memory, each "
                    "once with its order"};
  std::vector<CompanionOrder> all;
  const auto* beside = order.find("beside");
  if (beside == nullptr) return all;
  if (beside->array() == nullptr || beside->array()->empty()) return wrong;
  for (const auto& each : *beside->array()) {
    const auto* stage = each.find("stage");
    const auto* name = stage == nullptr ? nullptr : stage->text();
    const auto* its = each.find("order");
    if (name == nullptr || its == nullptr || its->object() == nullptr) return wrong;
    const bool fits = std::ranges::find(kCompanions, *name) != kCompanions.end() &&
                      std::ranges::find(all, *name, &CompanionOrder::stage) == all.end();
    if (!fits) return wrong;
    all.push_back({*name, *its});
  }
  return all;
}

/// What one of them asked to have stopped is stopped; otherwise waits until something that they
/// wait for comes, and resumes whom it concerns.
Work<bool> go_on(Node& node, Members& members) {
  for (auto& each : members)
    if (const auto number = each->programs.to_stop()) {
      auto ran = co_await node.programs.stop(*number);
      each->programs.take({*number, std::move(ran)});
      co_return true;
    }
  const auto now = node.clock.now();
  auto due = now + kLongestSpan;
  for (const auto& each : members) due = std::min(due, each->due());
  auto ended = co_await node.programs.first_end(std::max(due - now, milliseconds{0}));
  if (ended) {
    const auto owner = std::ranges::find_if(members, [&](const auto& each) {
      return each->programs.running().contains(ended->number);
    });
    if (owner != members.end()) (*owner)->programs.take(*std::move(ended));
  }
  for (auto& each : members) each->pass(node.clock.now());
  co_return true;
}

/// Ends all but the first, with what they have started.
Work<bool> stop_companions(Node& node, Members& members) {
  for (; members.size() > 1; members.pop_back()) {
    const auto running = members.back()->programs.running();
    for (const int number : running) co_await node.programs.stop(number);
  }
  co_return true;
}

bool is_through(const std::unique_ptr<Member>& member) { return member->work->done(); }

}  // namespace

Work<GaveUp> run_together(Node& node, const JsonValue& order, seconds planned,
                          Work<GaveUp> (*run)(Node& node, const JsonValue& order)) {
  auto companions = companions_in(order);
  if (!companions) co_return std::string{companions.error().what};
  if (companions->empty()) co_return co_await run(node, order);
  const auto end = node.clock.now() + planned;
  std::string names;
  Members members;
  members.push_back(std::make_unique<Member>(node, ""));
  members.front()->work.emplace(run(members.front()->node, order));
  for (auto& each : *companions) {
    names += (names.empty() ? "" : " ") + each.stage;
    auto& member = *members.emplace_back(std::make_unique<Member>(node, each.stage));
    member.work.emplace(run_companion(member.node, std::move(each)));
  }
  node.lines.note("beside", names);
  for (auto& each : members) each->work->start();
  while (!is_through(members.front())) co_await go_on(node, members);
  const bool early = end - node.clock.now() > kEarly;
  if (early) co_await stop_companions(node, members);
  while (!std::ranges::all_of(members, is_through)) co_await go_on(node, members);
  for (auto& each : members | std::views::drop(1)) each->work->result();
  co_return members.front()->work->result();
}

}  // namespace cupel::agent
