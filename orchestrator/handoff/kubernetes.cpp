#include "orchestrator/handoff/kubernetes.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "inventory/nvlink_domain.h"
#include "inventory/read_slurm.h"

namespace cupel::handoff {
namespace {

constexpr std::size_t kMostShown = 300, kMostTaints = 100, kLongestName = 253;
constexpr std::string_view kTaintEffect = "NoSchedule";
constexpr std::string_view kGpus = "nvidia.com/gpu";

/// Keys such as "cupel/cordoned" have a slash in them, which find() takes for a step down.
std::optional<std::string> text_under(const json::value& root, std::string_view map,
                                      std::string_view key) {
  const auto* found = find(root, map);
  const auto* object = found == nullptr ? nullptr : found->if_object();
  const auto* value = object == nullptr ? nullptr : object->if_contains(key);
  const auto* text = value == nullptr ? nullptr : value->if_string();
  if (text == nullptr) return std::nullopt;
  return std::string{text->data(), text->size()};
}

bool is_ready(const json::value& answer) {
  const auto* conditions = find(answer, "status/conditions");
  const auto* list = conditions == nullptr ? nullptr : conditions->if_array();
  return list != nullptr && std::ranges::any_of(*list, [](const json::value& each) {
           return text_at(each, "type") == "Ready" && text_at(each, "status") == "True";
         });
}

void read_condition(const json::value& answer, std::string_view type, KubernetesNode& node) {
  const auto* conditions = find(answer, "status/conditions");
  const auto* list = conditions == nullptr ? nullptr : conditions->if_array();
  if (list == nullptr || type.empty()) return;
  for (const auto& each : *list) {
    if (text_at(each, "type") != type) continue;
    node.condition = text_at(each, "status").value_or("");
    node.condition_says = text_at(each, "message").value_or("");
    node.condition_since = text_at(each, "lastTransitionTime").value_or("");
  }
}

bool ends_by_itself(const json::value& pod) {
  const auto phase = text_at(pod, "status/phase").value_or("");
  return phase == "Succeeded" || phase == "Failed";
}

bool stays_on_a_cordoned_node(const json::value& pod) {
  if (text_under(pod, "metadata/annotations", "kubernetes.io/config.mirror")) return true;
  const auto* owners = find(pod, "metadata/ownerReferences");
  const auto* list = owners == nullptr ? nullptr : owners->if_array();
  return list != nullptr && std::ranges::any_of(*list, [](const json::value& each) {
           return text_at(each, "kind") == "DaemonSet";
         });
}

json::object patch_of(const KubernetesNode& node, json::object metadata, json::object spec,
                      json::array taints) {
  metadata["resourceVersion"] = node.version;
  // Braces would make a list of it.
  spec["taints"] = taints.empty() ? json::value(nullptr) : json::value(std::move(taints));
  return {{"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
}

int gpus_of(const inventory::Profile& profile) {
  int count = 0;
  for (const auto& part : profile.parts)
    if (part.kind == inventory::PartKind::gpu) count += part.count;
  return count;
}

}  // namespace

Result<KubernetesNode> parse_kubernetes_node(const json::value& answer,
                                             const inventory::KubernetesSite& site) {
  KubernetesNode node;
  node.name = text_at(answer, "metadata/name").value_or("");
  node.version = text_at(answer, "metadata/resourceVersion").value_or("");
  if (text_at(answer, "kind") != "Node" || node.name.empty() || node.version.empty() ||
      node.name.size() > kLongestName || node.version.size() > kLongestName)
    return Error{Code::kMalformed, "the API server answers with no Node"};
  node.cordoned = flag_at(answer, "spec/unschedulable") == true;
  node.ready = is_ready(answer);
  read_condition(answer, site.condition, node);
  node.cordoned_by_us = text_under(answer, "metadata/annotations", kCordonedBy).value_or("");
  node.labelled =
      !site.label.empty() && text_under(answer, "metadata/labels", site.label) == site.label_value;
  node.clique = text_under(answer, "metadata/labels", kCliqueLabel).value_or("");
  const auto gpus = text_under(answer, "status/capacity", kGpus).value_or("");
  node.gpus = number<int>(gpus).value_or(0);
  const auto* found = find(answer, "spec/taints");
  const auto* taints = found == nullptr ? nullptr : found->if_array();
  if (taints == nullptr) return node;
  if (taints->size() > kMostTaints)
    return Error{Code::kMalformed, fmt::format("{} taints of one node", taints->size())};
  for (const auto& each : *taints) {
    const bool ours = text_at(each, "key") == site.taint && text_at(each, "effect") == kTaintEffect;
    node.tainted = node.tainted || ours;
    if (!ours) node.other_taints.push_back(each);
  }
  return node;
}

json::object cordon_patch(const KubernetesNode& node, const inventory::KubernetesSite& site,
                          std::string_view reason) {
  json::object metadata, spec;
  // Another's cordon stays another's: only what this cordons is marked.
  if (!node.cordoned) spec["unschedulable"] = true;
  if (!node.cordoned || !node.cordoned_by_us.empty())
    metadata["annotations"] = {{kCordonedBy, valid_utf8(reason)}};
  if (!site.label.empty()) metadata["labels"] = {{site.label, nullptr}};
  auto taints = node.other_taints;
  taints.push_back({{"key", site.taint}, {"effect", kTaintEffect}});
  return patch_of(node, std::move(metadata), std::move(spec), std::move(taints));
}

json::object uncordon_patch(const KubernetesNode& node, const inventory::KubernetesSite& site) {
  json::object metadata, spec;
  if (!node.cordoned_by_us.empty()) {
    spec["unschedulable"] = nullptr;
    metadata["annotations"] = {{kCordonedBy, nullptr}};
  }
  if (!site.label.empty()) metadata["labels"] = {{site.label, site.label_value}};
  return patch_of(node, std::move(metadata), std::move(spec), node.other_taints);
}

json::object clique_patch(const KubernetesNode& node, const inventory::NvlinkDomain& domain) {
  if (node.clique == domain.text()) return {};
  return {{"metadata",
           {{"resourceVersion", node.version}, {"labels", {{kCliqueLabel, domain.text()}}}}}};
}

json::object condition_patch(const KubernetesNode& node, const inventory::KubernetesSite& site,
                             bool qualified, std::string_view message, std::time_t now) {
  const std::string status = qualified ? "True" : "False";
  const auto time = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
  const bool stays = node.condition == status && !node.condition_since.empty();
  return {{"status",
           {{"conditions",
             json::array{{{"type", site.condition},
                          {"status", status},
                          {"reason", qualified ? "Qualified" : "NotQualified"},
                          {"message", valid_utf8(message)},
                          {"lastHeartbeatTime", time},
                          {"lastTransitionTime", stays ? node.condition_since : time}}}}}}};
}

Result<bool> has_jobs(const json::value& pods) {
  const auto* found = find(pods, "items");
  const auto* items = found == nullptr ? nullptr : found->if_array();
  if (items == nullptr)
    return Error{Code::kMalformed, "the API server answers with no list of pods"};
  // More pods than were asked for: a node that is being emptied has not so many.
  if (text_at(pods, "metadata/continue")) return true;
  return std::ranges::any_of(*items, [](const json::value& pod) {
    return !ends_by_itself(pod) && !stays_on_a_cordoned_node(pod);
  });
}

Kubernetes::Kubernetes(inventory::KubernetesSite site, std::string signature)
    : site_{std::move(site)},
      signature_{std::move(signature)},
      client_{{.name = "Kubernetes",
               .section = "kubernetes",
               .url = site_.server,
               .ca = site_.ca,
               .token = site_.token,
               .present = [](const std::string& token) {
                 return std::vector<std::string>{"Authorization: Bearer " + token};
               }}} {}

Task<Result<json::value>> Kubernetes::ask(ApiRequest request, std::string node, Deadline deadline) {
  CO_TRY(auto answer, co_await client_.ask(std::move(request), deadline));
  if (answer.status >= 200 && answer.status < 300) co_return std::move(answer.body);
  const auto who = client_.server().who();
  const auto words =
      shortened(printable(text_at(answer.body, "message").value_or(answer.text)), kMostShown);
  if (answer.status == 404)
    co_return Error{Code::kNotFound,
                    fmt::format("Kubernetes does not know node '{}': see kubectl get nodes, and "
                                "kubernetes_name in the inventory ({}: {})",
                                node, who, words)};
  const auto code = answer.status == 409   ? Code::kConflict
                    : answer.status >= 500 ? Code::kUnreachable
                                           : Code::kFailed;
  co_return Error{code, fmt::format("{}: HTTP {}: {}", who, answer.status, words)};
}

Task<Result<KubernetesNode>> Kubernetes::read(std::string name, Deadline deadline) {
  if (!inventory::is_subdomain(name))
    co_return Error{Code::kInvalid,
                    "Kubernetes name '" + printable(name) + "' is none; Kubernetes was not asked"};
  ApiRequest request;
  request.path = "/api/v1/nodes/" + name;
  CO_TRY(const auto answer, co_await ask(std::move(request), name, deadline));
  CO_TRY(auto node, parse_kubernetes_node(answer, site_));
  if (node.name != name)
    co_return Error{Code::kMalformed, fmt::format("Kubernetes was asked for node '{}' and shows "
                                                  "'{}'",
                                                  name, printable(node.name))};
  co_return node;
}

Task<Result<KubernetesNode>> Kubernetes::change(std::string name, Patch patch, Deadline deadline) {
  constexpr int kMostTries = 5;
  for (int tries = 0; tries < kMostTries; ++tries) {
    CO_TRY(auto node, co_await read(name, deadline));
    const auto requested = patch(node);
    if (requested.empty()) co_return node;
    ApiRequest request;
    request.method = "PATCH";
    request.path = "/api/v1/nodes/" + name;
    request.content_type = "application/strategic-merge-patch+json";
    request.body = json::serialize(requested);
    auto changed = co_await ask(std::move(request), name, deadline);
    if (changed) co_return parse_kubernetes_node(*changed, site_);
    if (changed.error().code != Code::kConflict) co_return std::move(changed).error();
  }
  co_return Error{Code::kBusy, fmt::format("{}: another user changed node {} {} times meanwhile",
                                           client_.server().who(), name, kMostTries)};
}

Task<Result<void>> Kubernetes::set_condition(std::string name, bool qualified, std::string message,
                                             Deadline deadline) {
  if (site_.condition.empty()) co_return ok();
  CO_TRY(const auto node, co_await read(name, deadline));
  if (node.condition == (qualified ? "True" : "False") && node.condition_says == message)
    co_return ok();
  ApiRequest request;
  request.method = "PATCH";
  request.path = "/api/v1/nodes/" + name + "/status";
  request.content_type = "application/strategic-merge-patch+json";
  request.body =
      json::serialize(condition_patch(node, site_, qualified, message, std::time(nullptr)));
  CO_TRY(co_await ask(std::move(request), name, deadline));
  co_return ok();
}

Task<Result<NodeState>> Kubernetes::look(const inventory::Node& asked,
                                         const inventory::Profile& profile, Deadline deadline) {
  const auto name = asked.kubernetes_name;
  CO_TRY(const auto node, co_await read(name, deadline));
  ApiRequest request;
  request.path = "/api/v1/pods?limit=500&fieldSelector=spec.nodeName%3D" + name;
  request.most = 32u << 20;
  CO_TRY(const auto pods, co_await ask(std::move(request), name, deadline));
  CO_TRY(const bool busy, has_jobs(pods));
  NodeState state{.name = name, .drained = node.cordoned && node.tainted, .busy = busy};
  if (!node.ready) state.silent = "its kubelet is not Ready";
  state.reason = node.cordoned_by_us;
  state.look_with = "kubectl describe node " + name;
  if (const int gpus = gpus_of(profile); node.gpus != gpus)
    state.disagreements.push_back(
        fmt::format("{}: Kubernetes has {}={}, the profile says {}", name, kGpus, node.gpus, gpus));
  co_return state;
}

Task<Result<void>> Kubernetes::hold(const inventory::Node& node, std::string reason,
                                    Deadline deadline) {
  const Patch patch = [this, reason](const KubernetesNode& now) {
    const bool so = now.cordoned && now.tainted && !now.labelled &&
                    (now.cordoned_by_us.empty() || now.cordoned_by_us == reason);
    return so ? json::object{} : cordon_patch(now, site_, reason);
  };
  CO_TRY(co_await change(node.kubernetes_name, patch, deadline));
  co_return co_await set_condition(node.kubernetes_name, false, std::move(reason), deadline);
}

Task<Result<std::string>> Kubernetes::release(const inventory::Node& node, Deadline deadline) {
  const Patch patch = [this](const KubernetesNode& now) {
    const bool labelled = site_.label.empty() || now.labelled;
    const bool so = labelled && !now.tainted && now.cordoned_by_us.empty();
    return so ? json::object{} : uncordon_patch(now, site_);
  };
  // Before pods may come: what waits for the condition acts on it first.
  CO_TRY(co_await set_condition(node.kubernetes_name, true, signature_ + ": qualified", deadline));
  CO_TRY(const auto now, co_await change(node.kubernetes_name, patch, deadline));
  if (!now.cordoned) co_return std::string{};
  co_return fmt::format("another user has cordoned {}: kubectl uncordon {}", now.name, now.name);
}

Task<Result<void>> Kubernetes::place(const inventory::Node& node,
                                     const inventory::NvlinkDomain& domain, Deadline deadline) {
  const Patch patch = [domain](const KubernetesNode& now) { return clique_patch(now, domain); };
  CO_TRY(co_await change(node.kubernetes_name, patch, deadline));
  co_return ok();
}

}  // namespace cupel::handoff
