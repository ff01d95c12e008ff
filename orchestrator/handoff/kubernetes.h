#pragma once
// Kubernetes by its API server, with a service account's token: a node is cordoned and tainted
// while it is tested; then it is labelled and uncordoned. A node that somebody else has cordoned
// stays so: what Cupel has cordoned is marked by an annotation. Where the site names a condition,
// programs that watch conditions (Node Readiness Controller, Node Problem Detector) see the same
// there. Pods are not evicted.
#include <ctime>

#include "base/json.h"
#include "inventory/fwd.h"
#include "orchestrator/handoff/api_client.h"
#include "orchestrator/handoff/scheduler.h"

namespace cupel::handoff {

/// Why Cupel has cordoned the node; not there: it has not.
inline constexpr std::string_view kCordonedBy = "cupel/cordoned";
/// "CLUSTERUUID.CLIQUEID" of the node's GPUs, as NVIDIA's GPU feature discovery labels nodes.
inline constexpr std::string_view kCliqueLabel = "nvidia.com/gpu.clique";

/// What the API server says of a node. Source: Kubernetes API reference, Node v1.
struct KubernetesNode {
  std::string name{};
  std::string version{};          // metadata.resourceVersion
  bool cordoned = false;          // spec.unschedulable
  bool tainted = false;           // with the site's taint
  bool labelled = false;          // the site's label has its value
  bool ready = false;             // condition Ready
  std::string condition{};        // status of the site's condition: "True", "False"; "": none
  std::string condition_says{};   // its message
  std::string condition_since{};  // lastTransitionTime, RFC 3339
  std::string cordoned_by_us{};   // the annotation's value
  json::array other_taints{};     // as they are, without the site's
  int gpus = 0;                   // capacity, nvidia.com/gpu
  std::string clique{};           // of kCliqueLabel; "": not labelled
};

/// Errors: kMalformed.
Result<KubernetesNode> parse_kubernetes_node(const json::value& answer,
                                             const inventory::KubernetesSite& site);

/// The strategic merge patches, bound to the version that was read: the list of taints is replaced
/// as a whole. Source: Kubernetes, "Update API Objects in Place Using kubectl patch".
json::object cordon_patch(const KubernetesNode& node, const inventory::KubernetesSite& site,
                          std::string_view reason);
json::object uncordon_patch(const KubernetesNode& node, const inventory::KubernetesSite& site);
/// Of the label alone. Nothing where it is so already.
json::object clique_patch(const KubernetesNode& node, const inventory::NvlinkDomain& domain);

/// The patch of the node's status that sets the site's condition: conditions are merged by their
/// type. `now`: in seconds since the epoch. Source: Kubernetes API reference, NodeCondition v1.
json::object condition_patch(const KubernetesNode& node, const inventory::KubernetesSite& site,
                             bool qualified, std::string_view message, std::time_t now);

/// Whether a pod of this list keeps its node busy: it has not ended, and is neither a DaemonSet's
/// nor the kubelet's own (a mirror pod). Errors: kMalformed.
Result<bool> has_jobs(const json::value& pods);

class Kubernetes : public Scheduler {
 public:
  explicit Kubernetes(inventory::KubernetesSite site, std::string signature = "cupel");

  std::string_view name() const override { return "Kubernetes"; }
  std::vector<std::string_view> keys() const override { return {"kubernetes"}; }
  const std::string& signature() const override { return signature_; }
  Task<Result<NodeState>> look(const inventory::Node& node, const inventory::Profile& profile,
                               Deadline deadline) override;
  Task<Result<void>> hold(const inventory::Node& node, std::string reason,
                          Deadline deadline) override;
  Task<Result<std::string>> release(const inventory::Node& node, Deadline deadline) override;
  /// By kCliqueLabel. One that is there with another value is replaced: it is what the node's GPUs
  /// were before.
  Task<Result<void>> place(const inventory::Node& node, const inventory::NvlinkDomain& domain,
                           Deadline deadline) override;

 private:
  using Patch = std::function<json::object(const KubernetesNode&)>;

  Task<Result<json::value>> ask(ApiRequest request, std::string node, Deadline deadline);
  Task<Result<KubernetesNode>> read(std::string name, Deadline deadline);
  /// Nothing where the site asks for no condition, or it is so already.
  Task<Result<void>> set_condition(std::string name, bool qualified, std::string message,
                                   Deadline deadline);
  /// Again from what is read anew where somebody else changed the node meanwhile. `patch` returns
  /// nothing where it is so already.
  Task<Result<KubernetesNode>> change(std::string name, Patch patch, Deadline deadline);

  inventory::KubernetesSite site_;
  std::string signature_;
  ApiClient client_;
};

}  // namespace cupel::handoff
