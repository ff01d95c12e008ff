#include "orchestrator/handoff/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "inventory/model.h"
#include "inventory/names.h"
#include "inventory/node.h"
#include "inventory/select.h"
#include "orchestrator/handoff/slurm_conf.h"
#include "orchestrator/handoff/slurmrestd.h"

namespace cupel::handoff {
namespace {

/// A range, a list or a word such as ALL would be several nodes to Slurm.
Result<void> one_name(const std::string& name) {
  const auto fault = inventory::fault_in_name(inventory::Named::slurm_node, name);
  if (!fault) return ok();
  return Error{Code::kInvalid, *fault + "; Slurm was not asked"};
}

std::shared_ptr<SlurmBackend> door_to(const inventory::SlurmSite& site) {
  if (site.rest) return std::make_shared<Slurmrestd>(*site.rest);
  return std::make_shared<Scontrol>(site.configuration);
}

/// Of one node, so that each can go by itself: "cupel-12-a01-n03".
std::string reservation_of(const std::string& run, const inventory::Node& node) {
  return fmt::format("cupel-{}-{}", run, node.slurm_name);
}

constexpr std::string_view kBefore = " | before: ";
constexpr std::size_t kLongestKept = 110;  // bytes

/// Also in a rehearsal, and of `cupel-node check`. A person's may begin with the name alone: "cupel
/// found a bad GPU".
bool is_ours(std::string_view reason) {
  return reason.starts_with("cupel: ") || reason.starts_with("cupel REHEARSAL: ") ||
         reason.starts_with("cupel-check: ");
}

/// Source: slurmctld and slurmd of Slurm 22.05 to 24.05: set_node_down(), drain_nodes(),
/// validate_node_specs().
bool is_of_slurm(const SlurmNode& node) {
  // slurmctld's own reasons begin so, whatever user it runs as.
  static constexpr std::string_view kOwn[] = {"not responding",
                                              "node unexpectedly rebooted",
                                              "low realmemory",
                                              "low tmpdisk",
                                              "low cpus",
                                              "low socket*",
                                              "gres/",
                                              "prolog error",
                                              "epilog error",
                                              "kill task failed",
                                              "batch job complete failure",
                                              "resumetimeout reached",
                                              "resumeprogram",
                                              "suspendprogram",
                                              "duplicate jobid",
                                              "reboot asap",
                                              "reboot timed out"};
  // So does what people write: "reboot after the next job", "invalid serial number".
  static constexpr std::string_view kVague[] = {"reboot ", "node registration", "configured ",
                                                "slurmd ", "nodes_per_",        "invalid "};
  const auto lower = lower_case(node.reason);
  const auto begins = [&](std::string_view begin) { return lower.starts_with(begin); };
  const bool by_slurm =
      node.reason_by.empty() || node.reason_by == "root" || node.reason_by == "slurm";
  return std::ranges::any_of(kOwn, begins) || (by_slurm && std::ranges::any_of(kVague, begins));
}

/// "DRAIN by alice: ticket 4711"
std::optional<ForeignHold> parse_kept(std::string_view text) {
  const auto colon = text.find(": ");
  if (colon == text.npos) return std::nullopt;
  const auto head = words(text.substr(0, colon));
  if (head.empty() || (head[0] != "DRAIN" && head[0] != "DOWN")) return std::nullopt;
  ForeignHold hold{.state = std::string{head[0]}, .reason = std::string{text.substr(colon + 2)}};
  if (head.size() == 3) hold.by = head[2];
  return hold;
}

}  // namespace

std::string_view own_reason(std::string_view reason) {
  return reason.substr(0, std::min(reason.find(kBefore), reason.size()));
}

std::optional<ForeignHold> foreign_hold(const SlurmNode& node) {
  const bool down = node.has("DOWN") || node.has("FAIL");
  if ((!node.drained() && !down) || node.reason.empty()) return std::nullopt;
  const std::string_view reason{node.reason};
  if (is_ours(reason)) {
    const auto kept = reason.find(kBefore);
    return kept == reason.npos ? std::nullopt : parse_kept(reason.substr(kept + kBefore.size()));
  }
  if (is_of_slurm(node)) return std::nullopt;
  return ForeignHold{node.drained() ? "DRAIN" : "DOWN", node.reason_by, node.reason};
}

std::string reason_with(std::string_view reason, const std::optional<ForeignHold>& before) {
  if (!before) return one_line_reason(reason);
  const auto kept =
      fmt::format("{}{}{}: {}", kBefore, before->state,
                  before->by.empty() ? std::string{} : " by " + shortened(before->by, 32),
                  shortened(one_line_reason(before->reason), kLongestKept));
  return shortened(one_line_reason(own_reason(reason)), kLongestReason - kept.size()) + kept;
}

bool SlurmNode::has(std::string_view word) const {
  return std::ranges::find(state, word) != state.end();
}

bool SlurmNode::busy() const { return has("ALLOCATED") || has("MIXED") || has("COMPLETING"); }

bool SlurmNode::idle() const {
  constexpr std::string_view kBars[] = {
      "DRAIN",   "DOWN",         "FAIL",          "FUTURE",      "MAINTENANCE",   "RESERVED",
      "PLANNED", "POWERED_DOWN", "POWERING_DOWN", "POWERING_UP", "REBOOT_ISSUED", "NOT_RESPONDING"};
  return has("IDLE") && !busy() &&
         std::ranges::none_of(kBars, [this](std::string_view word) { return has(word); });
}

Task<std::vector<std::string>> SlurmBackend::jobs(std::string, Deadline) {
  co_return std::vector<std::string>{};
}

Error unknown_to_slurm(std::string_view name, std::string_view words) {
  return Error{Code::kNotFound,
               fmt::format("Slurm does not know node '{}': add the lines that `cupel slurm conf` "
                           "prints to slurm.conf, then `scontrol reconfigure` ({})",
                           name, words)};
}

Slurm::Slurm(inventory::SlurmSite site, std::string signature)
    : site_{std::move(site)}, signature_{std::move(signature)}, door_{door_to(site_)} {}

Task<Result<std::vector<SlurmNode>>> Slurm::nodes(Deadline deadline) {
  std::string all;
  co_return co_await door_->nodes(std::move(all), deadline);
}

Task<Result<SlurmNode>> Slurm::node(std::string name, Deadline deadline) {
  CO_TRY(one_name(name));
  CO_TRY(auto found, co_await door_->nodes(name, deadline));
  if (found.size() > 1)
    co_return Error{Code::kInvalid, fmt::format("'{}' is {} nodes to Slurm: nothing was changed",
                                                name, found.size())};
  if (found.empty() || found.front().name != name)
    co_return Error{
        Code::kMalformed,
        fmt::format("Slurm was asked for node '{}' and shows '{}'", name,
                    found.empty() ? std::string{"nothing"} : printable(found.front().name))};
  co_return std::move(found.front());
}

Task<Result<void>> Slurm::drain(std::string name, std::string reason, Deadline deadline) {
  CO_TRY(const auto now, co_await node(name, deadline));
  SlurmUpdate update{.state = "DRAIN", .reason = reason_with(reason, foreign_hold(now))};
  // An operator who resumes it by hand must not get the feature of qualified nodes with it.
  auto features = now.features;
  const auto is_of_site = [this](const std::string& feature) {
    return std::ranges::find(site_.features, feature) != site_.features.end();
  };
  if (std::erase_if(features, is_of_site) > 0) update.features = std::move(features);
  co_return co_await door_->update(now.name, std::move(update), deadline);
}

Task<Result<void>> Slurm::resume(std::string name, Deadline deadline) {
  CO_TRY(const auto now, co_await node(name, deadline));
  // RESUME on a node that is neither drained nor down is an error to Slurm, and done to us.
  if (!now.drained() && !now.has("DOWN") && !now.has("FAIL")) co_return ok();
  SlurmUpdate update{.state = "RESUME"};
  co_return co_await door_->update(now.name, std::move(update), deadline);
}

Task<Result<void>> Slurm::add_features(std::string name, std::vector<std::string> features,
                                       Deadline deadline) {
  if (const auto fault = inventory::fault_in_names(inventory::Named::feature, features))
    co_return Error{Code::kInvalid, *fault + "; Slurm was not asked"};
  CO_TRY(auto now, co_await node(name, deadline));
  for (auto& feature : features)
    if (std::ranges::find(now.features, feature) == now.features.end())
      now.features.push_back(std::move(feature));
  if (now.features.empty()) co_return ok();
  SlurmUpdate update{.features = std::move(now.features)};
  co_return co_await door_->update(now.name, std::move(update), deadline);
}

Task<Result<std::string>> Slurm::ping(Deadline deadline) {
  co_return co_await door_->ping(deadline);
}

Task<Result<NodeState>> Slurm::look(const inventory::Node& asked, const inventory::Profile& profile,
                                    Deadline deadline) {
  CO_TRY(auto now, co_await node(asked.slurm_name, deadline));
  NodeState state{.name = now.name, .drained = now.drained(), .busy = now.busy()};
  if (state.busy) state.jobs = co_await door_->jobs(now.name, deadline);
  if (now.has("NOT_RESPONDING") || now.has("DOWN"))
    state.silent = "slurmctld hears no slurmd there";
  state.look_with = "scontrol show node " + now.name;
  state.disagreements = disagreements(profile, now);
  if (const auto held = foreign_hold(now))
    state.held_by_others = fmt::format("{} by {}: {}", held->state == "DOWN" ? "down" : "drained",
                                       held->by.empty() ? "another user" : held->by, held->reason);
  state.reason = own_reason(now.reason);
  co_return state;
}

Task<Result<void>> Slurm::hold(const inventory::Node& node, std::string reason, Deadline deadline) {
  co_return co_await drain(node.slurm_name, std::move(reason), deadline);
}

Task<Result<std::string>> Slurm::release(const inventory::Node& node, Deadline deadline) {
  CO_TRY(co_await add_features(node.slurm_name, site_.features, deadline));
  CO_TRY(const auto now, co_await this->node(node.slurm_name, deadline));
  const auto held = foreign_hold(now);
  if (!held) {
    CO_TRY(co_await resume(node.slurm_name, deadline));
    co_return std::string{};
  }
  if (now.reason != held->reason) {
    SlurmUpdate back{.state = held->state, .reason = held->reason};
    CO_TRY(co_await door_->update(now.name, std::move(back), deadline));
  }
  co_return fmt::format("{} had it {} before ({}): scontrol update nodename={} state=resume",
                        held->by.empty() ? "another user" : held->by,
                        held->state == "DOWN" ? "down" : "drained", held->reason, now.name);
}

Task<Result<void>> Slurm::reserve(const inventory::Node& node, std::string run, Deadline deadline) {
  if (!site_.reservation) co_return ok();
  CO_TRY(one_name(node.slurm_name));
  const auto reservation = reservation_of(run, node);
  co_return co_await door_->reserve(node.slurm_name, reservation, deadline);
}

Task<Result<void>> Slurm::unreserve(const inventory::Node& node, std::string run,
                                    Deadline deadline) {
  if (!site_.reservation) co_return ok();
  CO_TRY(one_name(node.slurm_name));
  const auto reservation = reservation_of(run, node);
  co_return co_await door_->unreserve(reservation, deadline);
}

Result<std::string> idle_nodes(const inventory::Inventory& inventory, const std::string& terms) {
  constexpr std::chrono::seconds kLongest{30};
  if (!inventory.slurm)
    return Error{Code::kInvalid, "idle_only: the inventory has no slurm section"};
  TRY(const auto meant, inventory::select(inventory, terms));
  asio::io_context io{1};
  Slurm slurm{*inventory.slurm};
  TRY(const auto all, run_to_end(io, slurm.nodes(Deadline::in(kLongest))));
  std::set<std::string, std::less<>> idle;
  for (const auto& each : all)
    if (each.idle()) idle.insert(each.name);
  std::string names;
  for (const auto* node : meant)
    if (idle.contains(node->slurm_name.empty() ? node->name : node->slurm_name))
      names += (names.empty() ? "" : ",") + node->name;
  if (names.empty())
    return Error{Code::kInvalid,
                 fmt::format("idle_only: Slurm reports none of {} nodes as idle", meant.size())};
  return names;
}

}  // namespace cupel::handoff
