// Kubernetes by its API server: against one that replays its documented answers, since Debian 12
// has no package of the real one.
#include "orchestrator/handoff/kubernetes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdlib.h>

#include "inventory/expected_parts.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/part_kind.h"
#include "inventory/profile.h"
#include "tests/support/damage.h"
#include "tests/support/replay_server.h"

namespace cupel::handoff {
namespace {
using namespace std::chrono_literals;
using test::ReplayAnswer;
using test::ReplayRequest;
using test::ReplayServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kVariable = "CUPEL_TEST_KUBERNETES_TOKEN";
constexpr const char* kNodePath = "/api/v1/nodes/n1.lab";

// Kubernetes API reference, Node v1, without what nobody reads.
constexpr std::string_view kNode = R"json({"kind": "Node", "apiVersion": "v1",
  "metadata": {"name": "n1.lab", "resourceVersion": "100", "labels": {"kubernetes.io/os": "linux"},
    "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}},
  "spec": {"podCIDR": "10.244.0.0/24", "taints": [{"key": "nvidia.com/gpu", "value": "present",
    "effect": "NoSchedule"}]},
  "status": {"capacity": {"cpu": "224", "nvidia.com/gpu": "8"}, "conditions": [
    {"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": "True"}]}})json";

constexpr std::string_view kNoPods = R"json({"kind": "PodList", "metadata": {}, "items": []})json";

/// A strategic merge patch of a Node: maps are merged, null takes away, and the list of taints,
/// which has no merge key, is replaced.
void merge(json::object& into, const json::object& patch) {
  for (const auto& [key, value] : patch) {
    if (value.is_null()) {
      into.erase(key);
    } else if (value.is_object()) {
      if (!into.contains(key)) into[key] = json::object{};
      merge(into[key].as_object(), value.as_object());
    } else {
      into[key] = value;
    }
  }
}

std::string status(int code, const std::string& reason, const std::string& message) {
  return json::serialize(json::object{{"kind", "Status"},
                                      {"apiVersion", "v1"},
                                      {"status", "Failure"},
                                      {"message", message},
                                      {"reason", reason},
                                      {"code", code}});
}

/// One node.
class FakeKubernetes {
 public:
  ReplayAnswer operator()(const ReplayRequest& asked) {
    if (!asked.head.contains("Authorization: Bearer a.b.c\r\n"))
      return {.status = 401, .body = status(401, "Unauthorized", "Unauthorized")};
    if (forbids)
      return {.status = 403,
              .body = status(403, "Forbidden",
                             "nodes \"n1.lab\" is forbidden: User "
                             "\"system:serviceaccount:ops:cupel\" cannot get")};
    if (asked.path.starts_with("/api/v1/pods?")) return {.body = pods};
    if (asked.path == std::string{kNodePath} + "/status" && asked.method == "PATCH")
      return patched_status(asked);
    if (asked.path != kNodePath)
      return {.status = 404, .body = status(404, "NotFound", "nodes \"n9\" not found")};
    if (asked.method == "GET") return {.body = json::serialize(node)};
    if (!asked.head.contains("Content-Type: application/strategic-merge-patch+json\r\n"))
      return {.status = 415, .body = "{}"};
    const auto patch = parse_json(asked.body).value();
    if (conflicts-- > 0) count_version();
    if (text_at(patch, "metadata/resourceVersion") != text_at(node, "metadata/resourceVersion"))
      return {.status = 409, .body = status(409, "Conflict", "the object has been modified")};
    merge(node, patch.as_object());
    count_version();
    return {.body = json::serialize(node)};
  }
  bool cordoned() const { return find(value(), "spec/unschedulable") != nullptr; }

  json::object node = parse_json(kNode).value().as_object();
  std::string pods{kNoPods};
  bool forbids = false;
  bool may_write_status = true;
  int conflicts = 0;

 private:
  /// The API server merges conditions by their type (patchMergeKey of NodeStatus.conditions).
  ReplayAnswer patched_status(const ReplayRequest& asked) {
    if (!may_write_status)
      return {.status = 403,
              .body = status(403, "Forbidden", "cannot patch resource \"nodes/status\"")};
    const auto patch = parse_json(asked.body).value();
    auto& conditions = node.at("status").at("conditions").as_array();
    for (const auto& each : patch.at("status").at("conditions").as_array()) {
      const auto known = std::ranges::find_if(
          conditions, [&](const json::value& one) { return one.at("type") == each.at("type"); });
      if (known == conditions.end())
        conditions.push_back(each);
      else
        *known = each;
    }
    return {.body = json::serialize(node)};
  }
  void count_version() {
    auto& version = node.at("metadata").as_object().at("resourceVersion");
    version = std::to_string(std::stoi(version.as_string().c_str()) + 1);
  }
  const json::value& value() const {
    copy_ = node;
    return copy_;
  }
  mutable json::value copy_{};
};

class KubernetesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv(kVariable, "a.b.c", 1);
    node.name = "n1";
    node.kubernetes_name = "n1.lab";
    inventory::ExpectedParts gpus;
    gpus.kind = inventory::PartKind::gpu;
    gpus.count = 8;
    profile.parts.push_back(gpus);
  }
  void TearDown() override { ::unsetenv(kVariable); }

  /// What the node's condition says, with the kubelet's own beside it.
  json::value qualified() const {
    for (const auto& each : fake.node.at("status").at("conditions").as_array())
      if (each.at("type") == "CupelQualified") return each;
    return nullptr;
  }
  inventory::KubernetesSite site() const {
    inventory::KubernetesSite site;
    site.server = server.url();
    site.token = {inventory::SecretRef::Kind::env, kVariable};
    site.label = "cupel/qualified";
    site.label_value = "yes";
    site.condition = condition;
    return site;
  }
  /// The server's lock before and after: what `fake` has is then this thread's.
  template <class T>
  T ended(Task<T> task) {
    (void)server.asked();
    auto result = run_to_end(io, std::move(task));
    (void)server.asked();
    return result;
  }
  Result<void> hold(const std::string& reason) {
    Kubernetes kubernetes{site()};
    return ended(kubernetes.hold(node, reason, Deadline::in(30s)));
  }
  Result<std::string> release() {
    Kubernetes kubernetes{site()};
    return ended(kubernetes.release(node, Deadline::in(30s)));
  }
  Result<NodeState> look() {
    Kubernetes kubernetes{site()};
    return ended(kubernetes.look(node, profile, Deadline::in(30s)));
  }
  int patches() const {
    return static_cast<int>(std::ranges::count_if(
        server.asked(), [](const ReplayRequest& one) { return one.method == "PATCH"; }));
  }

  std::string condition{};
  asio::io_context io{1};
  FakeKubernetes fake{};
  ReplayServer server{std::ref(fake)};
  inventory::Node node{};
  inventory::Profile profile{};
};

TEST_F(KubernetesTest, CordonsAndTaintsThenLabelsAndUncordons) {
  const auto before = json::serialize(fake.node.at("spec"));

  ASSERT_TRUE(hold("cupel: not qualified (run 3)"));
  const auto held = look();
  const auto taints = json::serialize(fake.node.at("spec").at("taints"));
  const auto left = release();
  const auto free = look();

  ASSERT_TRUE(held && left && free) << (held ? "" : held.error().what);
  EXPECT_TRUE(held->drained);
  EXPECT_FALSE(held->busy);
  EXPECT_EQ(held->reason, "cupel: not qualified (run 3)");
  EXPECT_THAT(held->disagreements, ElementsAre());
  EXPECT_EQ(taints, R"([{"key":"nvidia.com/gpu","value":"present","effect":"NoSchedule"},)"
                    R"({"key":"cupel/not-qualified","effect":"NoSchedule"}])");
  EXPECT_EQ(*left, "");
  EXPECT_FALSE(free->drained);
  EXPECT_EQ(json::serialize(fake.node.at("spec")), before);
  EXPECT_EQ(json::serialize(fake.node.at("metadata").at("labels")),
            R"({"kubernetes.io/os":"linux","cupel/qualified":"yes"})");
  EXPECT_FALSE(fake.node.at("metadata").at("annotations").as_object().contains(kCordonedBy));
}

TEST_F(KubernetesTest, ChangesNothingWhereItIsSoAlready) {
  ASSERT_TRUE(hold("cupel: x"));
  ASSERT_TRUE(hold("cupel: x"));
  EXPECT_EQ(patches(), 1);

  ASSERT_TRUE(release());
  ASSERT_TRUE(release());
  EXPECT_EQ(patches(), 2);
}

TEST_F(KubernetesTest, LabelsTheNodeWithTheNvlinkDomainOfItsGpusAndChangesNothingElse) {
  const inventory::NvlinkDomain before{"0a1b2c3d-0000-4000-8000-000000000001", 5};
  const inventory::NvlinkDomain now{"0a1b2c3d-0000-4000-8000-000000000002", 32766};
  const auto spec = json::serialize(fake.node.at("spec"));
  const auto placed = [&](const inventory::NvlinkDomain& domain) {
    Kubernetes kubernetes{site()};
    return ended(kubernetes.place(node, domain, Deadline::in(30s)));
  };
  const auto label = [&] { return fake.node.at("metadata").at("labels").at(kCliqueLabel); };

  ASSERT_TRUE(placed(before));
  EXPECT_EQ(label(), "0a1b2c3d-0000-4000-8000-000000000001.5");
  ASSERT_TRUE(placed(now));
  EXPECT_EQ(label(), "0a1b2c3d-0000-4000-8000-000000000002.32766");
  ASSERT_TRUE(placed(now));

  EXPECT_EQ(patches(), 2) << "the third time it is so already";
  EXPECT_EQ(json::serialize(fake.node.at("spec")), spec);
  EXPECT_EQ(fake.node.at("metadata").at("labels").at("kubernetes.io/os"), "linux");
}

TEST_F(KubernetesTest, TakesTheLabelFromANodeThatIsTestedAgain) {
  ASSERT_TRUE(release());

  ASSERT_TRUE(hold("cupel: fail: gpu3"));

  EXPECT_EQ(json::serialize(fake.node.at("metadata").at("labels")),
            R"({"kubernetes.io/os":"linux"})");
}

TEST_F(KubernetesTest, SetsTheConditionThatTheSiteNamesAndNoOther) {
  condition = "CupelQualified";

  ASSERT_TRUE(hold("cupel: not qualified (run 3)"));
  const auto held = qualified();
  ASSERT_TRUE(hold("cupel: fail: gpu3 (run 3)"));
  const auto failed = qualified();
  const auto left = release();
  const auto free = qualified();
  const auto before = patches();
  ASSERT_TRUE(release());

  ASSERT_TRUE(left) << left.error().what;
  EXPECT_EQ(held.at("status"), "False");
  EXPECT_EQ(held.at("message"), "cupel: not qualified (run 3)");
  EXPECT_EQ(failed.at("message"), "cupel: fail: gpu3 (run 3)");
  EXPECT_EQ(failed.at("lastTransitionTime"), held.at("lastTransitionTime"));
  EXPECT_EQ(free.at("status"), "True");
  EXPECT_EQ(free.at("reason"), "Qualified");
  EXPECT_EQ(fake.node.at("status").at("conditions").as_array().size(), 3u);
  EXPECT_EQ(patches(), before) << "it is so already";
}

TEST_F(KubernetesTest, ANodeWhoseConditionCannotBeSetIsNotGivenAway) {
  ASSERT_TRUE(hold("cupel: x"));
  condition = "CupelQualified";
  fake.may_write_status = false;

  const auto left = release();

  ASSERT_FALSE(left);
  EXPECT_EQ(left.error().code, Code::kRefused);
  EXPECT_THAT(left.error().what, HasSubstr("nodes/status"));
  EXPECT_TRUE(fake.cordoned());
}

TEST_F(KubernetesTest, LeavesANodeCordonedThatSomebodyElseCordoned) {
  fake.node.at("spec").as_object()["unschedulable"] = true;

  ASSERT_TRUE(hold("cupel: x"));
  const auto marked = fake.node.at("metadata").at("annotations").as_object().contains(kCordonedBy);
  const auto left = release();

  ASSERT_TRUE(left) << left.error().what;
  EXPECT_FALSE(marked);
  EXPECT_TRUE(fake.cordoned());
  EXPECT_EQ(*left, "another user has cordoned n1.lab: kubectl uncordon n1.lab");
  EXPECT_EQ(fake.node.at("spec").at("taints").as_array().size(), 1u);
}

TEST_F(KubernetesTest, ReadsAgainWhereSomebodyElseChangedTheNodeMeanwhile) {
  fake.conflicts = 2;
  ASSERT_TRUE(hold("cupel: x"));
  EXPECT_EQ(patches(), 3);
  EXPECT_TRUE(fake.cordoned());

  fake.conflicts = 100;
  EXPECT_EQ(release().error().code, Code::kBusy);
}

TEST_F(KubernetesTest, IsBusyWithPodsThatACordonDoesNotKeep) {
  const auto pod = [](const std::string& metadata, const std::string& phase) {
    return R"({"metadata": {)" + metadata + R"(}, "status": {"phase": ")" + phase + R"("}})";
  };
  const std::vector<std::pair<std::string, bool>> cases{
      {pod(R"("name": "train")", "Running"), true},
      {pod(R"("name": "train")", "Pending"), true},
      {pod(R"("name": "train")", "Succeeded"), false},
      {pod(R"("ownerReferences": [{"kind": "DaemonSet"}])", "Running"), false},
      {pod(R"("ownerReferences": [{"kind": "Job"}])", "Running"), true},
      {pod(R"("annotations": {"kubernetes.io/config.mirror": "x"})", "Running"), false},
  };
  for (const auto& [one, busy] : cases) {
    fake.pods = R"({"items": [)" + one + "]}";
    const auto state = look();
    ASSERT_TRUE(state) << state.error().what;
    EXPECT_EQ(state->busy, busy) << one;
  }
  EXPECT_EQ(server.lines().back(),
            "GET /api/v1/pods?limit=500&fieldSelector=spec.nodeName%3Dn1.lab");
}

TEST_F(KubernetesTest, ReportsAKubeletThatIsNotReadyAndGpusThatAreMissing) {
  fake.node.at("status").as_object()["conditions"] =
      json::array{json::object{{"type", "Ready"}, {"status", "Unknown"}}};
  fake.node.at("status").at("capacity").as_object()["nvidia.com/gpu"] = "7";

  const auto state = look();

  ASSERT_TRUE(state) << state.error().what;
  EXPECT_EQ(state->silent, "its kubelet is not Ready");
  EXPECT_THAT(state->disagreements,
              ElementsAre("n1.lab: Kubernetes has nvidia.com/gpu=7, the profile says 8"));
}

TEST_F(KubernetesTest, NamesWhatIsMissing) {
  node.kubernetes_name = "n9";
  const auto unknown = look();
  node.kubernetes_name = "../pods";
  const auto several = look();
  node.kubernetes_name = "n1.lab";
  fake.forbids = true;
  const auto forbidden = look();
  ::setenv(kVariable, "wrong", 1);
  const auto refused = look();

  EXPECT_EQ(unknown.error().code, Code::kNotFound);
  EXPECT_THAT(unknown.error().what, AllOf(HasSubstr("'n9'"), HasSubstr("kubectl get nodes")));
  EXPECT_EQ(several.error().code, Code::kInvalid);
  EXPECT_EQ(forbidden.error().code, Code::kRefused);
  EXPECT_THAT(forbidden.error().what, HasSubstr("system:serviceaccount:ops:cupel"));
  EXPECT_EQ(refused.error().code, Code::kRefused);
  EXPECT_THAT(refused.error().what, HasSubstr("check user and token of kubernetes"));
}

TEST(ParseKubernetesNode, IsReadOrRefusedHoweverItWasDamaged) {
  std::mt19937 random{20261126};
  inventory::KubernetesSite site;
  for (int round = 0; round < 20'000; ++round) {
    const auto parsed = parse_json(cupel::test::damaged(std::string{kNode}, random));
    if (!parsed) continue;
    const auto node = parse_kubernetes_node(*parsed, site);
    if (node) {
      EXPECT_FALSE(node->name.empty());
      EXPECT_FALSE(node->version.empty());
    }
  }
}

}  // namespace
}  // namespace cupel::handoff
