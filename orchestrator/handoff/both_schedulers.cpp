#include "orchestrator/handoff/both_schedulers.h"

#include <fmt/format.h>

#include "inventory/node.h"

namespace cupel::handoff {
namespace {

std::string joined(const std::string& one, const std::string& other, std::string_view between) {
  if (one.empty() || other.empty() || one == other) return one.empty() ? other : one;
  return one + std::string{between} + other;
}

template <class T>
void append(std::vector<T>& into, const std::vector<T>& more) {
  into.insert(into.end(), more.begin(), more.end());
}

}  // namespace

NodeState state_of_both(NodeState one, NodeState other, std::string_view first,
                        std::string_view second) {
  // Between the two a node is neither held back nor given away.
  if (one.drained != other.drained && one.silent.empty() && other.silent.empty())
    one.silent = fmt::format("{} has it drained and {} has not", one.drained ? first : second,
                             one.drained ? second : first);
  one.drained = one.drained && other.drained;
  one.busy = one.busy || other.busy;
  append(one.jobs, other.jobs);
  one.silent = joined(one.silent, other.silent, "; ");
  one.reason = joined(one.reason, other.reason, "; ");
  one.held_by_others = joined(one.held_by_others, other.held_by_others, "; ");
  one.look_with = joined(one.look_with, other.look_with, "; ");
  append(one.disagreements, other.disagreements);
  return one;
}

BothSchedulers::BothSchedulers(std::shared_ptr<Scheduler> first, std::shared_ptr<Scheduler> second)
    : first_{std::move(first)},
      second_{std::move(second)},
      name_{fmt::format("{} and {}", first_->name(), second_->name())} {}

std::vector<std::string_view> BothSchedulers::keys() const {
  auto keys = first_->keys();
  append(keys, second_->keys());
  return keys;
}

Task<Result<NodeState>> BothSchedulers::look(const inventory::Node& node,
                                             const inventory::Profile& profile, Deadline deadline) {
  CO_TRY(auto one, co_await first_->look(node, profile, deadline));
  CO_TRY(auto other, co_await second_->look(node, profile, deadline));
  co_return state_of_both(std::move(one), std::move(other), first_->name(), second_->name());
}

Task<Result<void>> BothSchedulers::hold(const inventory::Node& node, std::string reason,
                                        Deadline deadline) {
  CO_TRY(co_await first_->hold(node, reason, deadline));
  co_return co_await second_->hold(node, std::move(reason), deadline);
}

Task<Result<std::string>> BothSchedulers::release(const inventory::Node& node, Deadline deadline) {
  CO_TRY(const auto one, co_await first_->release(node, deadline));
  if (!one.empty()) co_return one;  // it stays held back in the other, too
  CO_TRY(const auto other, co_await second_->release(node, deadline));
  if (!other.empty()) {
    CO_TRY(co_await first_->hold(node, one_line_reason(signature() + ": " + other), deadline));
  }
  co_return other;
}

Task<Result<void>> BothSchedulers::place(const inventory::Node& node,
                                         const inventory::NvlinkDomain& domain, Deadline deadline) {
  CO_TRY(co_await first_->place(node, domain, deadline));
  co_return co_await second_->place(node, domain, deadline);
}

Task<Result<void>> BothSchedulers::reserve(const inventory::Node& node, std::string run,
                                           Deadline deadline) {
  CO_TRY(co_await first_->reserve(node, run, deadline));
  co_return co_await second_->reserve(node, std::move(run), deadline);
}

Task<Result<void>> BothSchedulers::unreserve(const inventory::Node& node, std::string run,
                                             Deadline deadline) {
  CO_TRY(co_await first_->unreserve(node, run, deadline));
  co_return co_await second_->unreserve(node, std::move(run), deadline);
}

}  // namespace cupel::handoff
