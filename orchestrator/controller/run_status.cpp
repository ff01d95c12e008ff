#include "orchestrator/controller/run_status.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/described_json.h"
#include "base/file.h"
#include "base/json.h"
#include "bmc/redfish/manager.h"
#include "inventory/node.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/store/controller_lock.h"
#include "playbooks/plan.h"

namespace cupel::described {

using engine::WallTime;

template <>
struct Row<std::int64_t> {
  static void put(json::object& into, std::string_view key, std::int64_t number) {
    into[key] = number;
  }
  static std::int64_t take(const json::value& value) {
    return value.is_int64() ? value.get_int64() : 0;
  }
};

template <>
struct Row<std::optional<WallTime>> {
  static void put(json::object& into, std::string_view key, const std::optional<WallTime>& time) {
    if (time) into[key] = report::utc(*time);
  }
  static std::optional<WallTime> take(const json::value& value) {
    if (!value.is_string()) return std::nullopt;
    const auto time = bmc::redfish::parse_date(std::string_view{value.get_string()});
    return time ? std::optional<WallTime>{*time} : std::nullopt;
  }
};

template <>
struct Row<WallTime> {
  static void put(json::object& into, std::string_view key, WallTime time) {
    into[key] = report::utc(time);
  }
  static WallTime take(const json::value& value) {
    return Row<std::optional<WallTime>>::take(value).value_or(WallTime{});
  }
};

template <>
struct Row<std::map<std::string, std::int64_t>> {
  using Counts = std::map<std::string, std::int64_t>;
  static void put(json::object& into, std::string_view key, const Counts& counts) {
    json::object object;
    for (const auto& [name, count] : counts) object[valid_utf8(name)] = count;
    into[key] = std::move(object);
  }
  static Counts take(const json::value& value) {
    Counts counts;
    if (const auto* object = value.if_object())
      for (const auto& [name, count] : *object)
        if (count.is_int64()) counts[std::string{name}] = count.get_int64();
    return counts;
  }
};

}  // namespace cupel::described

namespace cupel::controller {
namespace {

constexpr std::size_t kStatusLimit = 4u << 20;

std::filesystem::path status_file(const std::filesystem::path& state) {
  return state / "controller.json";
}

/// Reasons, each with the nodes that it holds.
std::vector<HeldNodes> reasons_of(engine::RunId run,
                                  const std::vector<engine::Engine::Held>& held) {
  std::map<std::string, std::vector<std::string>> nodes_by_reason;
  for (const auto& each : held)
    if (each.run == run) nodes_by_reason[each.why].push_back(each.node);
  std::vector<HeldNodes> reasons;
  for (auto& [why, nodes] : nodes_by_reason) {
    if (reasons.size() == kMostReasons) break;
    reasons.push_back(
        {why, static_cast<std::int64_t>(nodes.size()), nodes.front(), std::move(nodes)});
  }
  return reasons;
}

std::map<std::string, std::int64_t> approvals_of(const playbooks::Plan& plan,
                                                 const engine::RunState& state) {
  std::map<std::string, std::int64_t> waiting;
  for (const auto& node : plan.nodes) {
    const auto known = state.nodes.find(node.node->name);
    if (known == state.nodes.end()) continue;
    const auto what = engine::next(node, known->second);
    if (what.kind == engine::Next::Kind::await_approval) ++waiting[(*node.steps)[what.step].name];
  }
  return waiting;
}

}  // namespace

const RunStatus* ControllerStatus::find(engine::RunId run) const {
  const auto at = std::ranges::find(runs, run, &RunStatus::run);
  return at == runs.end() ? nullptr : &*at;
}

RunStatus status_of(const RunFacts& facts) {
  return {.run = facts.run,
          .ends = facts.ends,
          .held = reasons_of(facts.run, facts.held),
          .approvals = approvals_of(facts.plan, facts.state),
          .hands_until = facts.hands_until,
          .halted = facts.halted};
}

boost::json::object to_json(const RunStatus& status) { return described::to_object(status); }

RunStatus run_status_from(const boost::json::object& object) {
  return described::from_object<RunStatus>(object);
}

std::string to_text(const ControllerStatus& status) {
  return boost::json::serialize(described::to_object(status));
}

Result<ControllerStatus> controller_status_from(std::string_view text) {
  TRY(const auto value, parse_json(text));
  if (!value.is_object()) return Error{Code::kMalformed, "a controller's status is a JSON object"};
  return described::from_object<ControllerStatus>(value.get_object());
}

report::NodeWords held_of(const RunStatus* status) {
  report::NodeWords held;
  if (status == nullptr) return held;
  for (const auto& reason : status->held)
    for (const auto& name : reason.names) held[name] = reason.why;
  return held;
}

Result<void> write_status(const std::filesystem::path& state, const std::string& text) {
  return write_file(status_file(state), text);
}

void remove_status(const std::filesystem::path& state) {
  std::error_code gone;
  std::filesystem::remove(status_file(state), gone);
}

std::optional<ControllerStatus> read_status(const std::filesystem::path& state) {
  const auto holder = store::ControllerLock::holder(state);
  if (!holder) return std::nullopt;
  const auto text = read_file(status_file(state), kStatusLimit);
  if (!text) return std::nullopt;
  auto status = controller_status_from(*text);
  // What a controller that died left behind is not this one's.
  if (!status || status->pid != holder->pid) return std::nullopt;
  return *std::move(status);
}

std::string status_mark(const std::filesystem::path& state) {
  struct stat file{};
  if (::stat(status_file(state).c_str(), &file) != 0) return {};
  // Each write makes a file of its own.
  return fmt::format("{} {}.{}", file.st_ino, file.st_mtim.tv_sec, file.st_mtim.tv_nsec);
}

const RunStatus* find(const std::optional<ControllerStatus>& status, engine::RunId run) {
  return status ? status->find(run) : nullptr;
}

}  // namespace cupel::controller
