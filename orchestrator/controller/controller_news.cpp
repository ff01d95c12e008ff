#include "orchestrator/controller/controller_news.h"

#include <unistd.h>

#include <map>

#include "base/file.h"
#include "base/json.h"
#include "orchestrator/report/summary.h"
#include "orchestrator/store/controller_lock.h"

namespace cupel::controller {
namespace {

constexpr std::size_t kMostReasons = 20;  // of one run, why steps are held
constexpr std::size_t kNewsLimit = 4u << 20;

std::filesystem::path news_file(const std::filesystem::path& state) {
  return state / "controller.json";
}

/// Reasons, each with how many nodes it holds.
boost::json::array reasons_of(engine::RunId run, const std::vector<engine::Engine::Held>& held) {
  std::map<std::string, std::vector<std::string>> nodes_by_reason;
  for (const auto& each : held)
    if (each.run == run) nodes_by_reason[each.why].push_back(each.node);
  boost::json::array reasons;
  for (const auto& [why, nodes] : nodes_by_reason) {
    if (reasons.size() == kMostReasons) break;
    boost::json::array names;
    for (const auto& node : nodes) names.emplace_back(node);
    reasons.push_back({{"why", why},
                       {"nodes", nodes.size()},
                       {"first", nodes.front()},
                       {"names", std::move(names)}});
  }
  return reasons;
}

/// Step -> nodes that wait at it for a person's word.
boost::json::object approvals_of(const playbooks::Plan& plan, const engine::RunState& state) {
  std::map<std::string, std::int64_t> waiting;
  for (const auto& node : plan.nodes) {
    const auto known = state.nodes.find(node.node->name);
    if (known == state.nodes.end()) continue;
    const auto what = engine::next(node, known->second);
    if (what.kind == engine::Next::Kind::await_approval) ++waiting[(*node.steps)[what.step].name];
  }
  boost::json::object approvals;
  for (const auto& [step, nodes] : waiting) approvals[step] = nodes;
  return approvals;
}

}  // namespace

boost::json::object news_of(const RunNews& news) {
  boost::json::object object{{"run", news.run},
                             {"ends", news.ends.time_since_epoch().count()},
                             {"held", reasons_of(news.run, news.held)},
                             {"approvals", approvals_of(news.plan, news.state)}};
  if (news.hands_until) object["hands_until"] = report::utc(*news.hands_until);
  return object;
}

boost::json::object news_of_all(boost::json::array runs) {
  return {{"pid", ::getpid()}, {"runs", std::move(runs)}};
}

bool write_news(const std::filesystem::path& state, const std::string& news) {
  return write_file(news_file(state), news).has_value();
}

void remove_news(const std::filesystem::path& state) {
  std::error_code gone;
  std::filesystem::remove(news_file(state), gone);
}

std::optional<boost::json::object> controller_news(const std::filesystem::path& state) {
  const auto holder = store::ControllerLock::holder(state);
  if (!holder) return std::nullopt;
  const auto text = read_file(news_file(state), kNewsLimit);
  if (!text) return std::nullopt;
  boost::system::error_code bad;
  const auto value = boost::json::parse(*text, bad);
  if (bad || !value.is_object()) return std::nullopt;
  const auto* pid = value.get_object().if_contains("pid");
  const bool its_own = pid != nullptr && pid->is_int64() && pid->get_int64() == holder->pid;
  if (!its_own) return std::nullopt;
  return value.get_object();
}

const boost::json::object* news_of_run(const std::optional<boost::json::object>& news,
                                       engine::RunId run) {
  const auto* runs = news ? news->if_contains("runs") : nullptr;
  if (runs == nullptr || !runs->is_array()) return nullptr;
  for (const auto& each : runs->get_array()) {
    const auto* object = each.if_object();
    const auto* id = object == nullptr ? nullptr : object->if_contains("run");
    if (id != nullptr && id->is_int64() && id->get_int64() == run) return object;
  }
  return nullptr;
}

report::NodeWords held_of(const boost::json::object* news) {
  report::NodeWords held;
  const auto* reasons = news == nullptr ? nullptr : news->if_contains("held");
  if (reasons == nullptr || !reasons->is_array()) return held;
  for (const auto& each : reasons->get_array()) {
    const auto* object = each.if_object();
    const auto* why = object == nullptr ? nullptr : object->if_contains("why");
    const auto* names = object == nullptr ? nullptr : object->if_contains("names");
    if (why == nullptr || !why->is_string() || names == nullptr || !names->is_array()) continue;
    for (const auto& name : names->get_array())
      if (name.is_string()) held[std::string{name.get_string()}] = why->get_string();
  }
  return held;
}

}  // namespace cupel::controller
