// A machine that was repaired: the built cupel finds out what changed, runs what that makes void,
// and its certificate keeps the rest. Against a virtual rack.
#include "orchestrator/api/service_client.h"
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

using namespace std::chrono_literals;
using rehearsal::Fault;
using rehearsal::FaultKind;
using ::testing::ContainsRegex;

constexpr const char* kQualify = R"(playbook: qualify
steps:
  - step: bmc-facts
  - step: power-on
  - step: ssh-wait
  - stage: node-facts
  - {stage: gpu-facts, on_failure: continue}
  - {stage: facts, on_failure: continue}
  - {stage: cpu, with: {duration: 5m}, on_failure: continue}
  - {stage: nvme, with: {size: 1GiB, runtime: 5s}, on_failure: continue}
  - {stage: gemm, with: {duration: 5m}, on_failure: continue}
  - step: audit
  - step: verdict
)";

/// One machine and the run that it has passed, for all: each test gets that run's records anew, and
/// the machine as it was then.
class RequalifyTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    made = std::make_unique<RackSite>(RackSite::Options{.nodes = 2, .network = 89, .speed = 200});
    made->write("qualify.yaml", kQualify);
    passed = made->run(
        {"run", "qualify.yaml", "--nodes", "v01-n01", "--no-console", "--programs-on-nodes"}, 240s);
    std::filesystem::rename(made->file("state"), made->file("passed"));
    made->rack().post("v01-n01", [](auto& machine) {
      for (const auto& gpu : machine.hardware().gpus) vbios.push_back(gpu.vbios);
    });
  }
  static void TearDownTestSuite() { made.reset(); }

  void SetUp() override {
    ASSERT_EQ(passed.status, 0) << passed.out << passed.err;
    for (const auto* last : {"state", "s"}) std::filesystem::remove_all(site.file(last));
    std::filesystem::copy(site.file("passed"), site.file("state"),
                          std::filesystem::copy_options::recursive);
    plant({});
    site.rack().post("v01-n01", [](auto& machine) {
      for (std::size_t i = 0; i < vbios.size(); ++i)
        machine.flash("HGX_FW_GPU_SXM_" + std::to_string(i + 1), vbios[i]);
    });
  }
  void plant(std::vector<Fault> faults) {
    site.rack().post("v01-n01", [faults](auto& machine) { machine.set_faults(faults); });
  }
  void make_keys() {
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"openssl", "genpkey", "-algorithm", "ed25519", "-out", site.file("site.key")},
             {"chmod", "600", site.file("site.key")},
             {"openssl", "pkey", "-in", site.file("site.key"), "-pubout", "-out",
              site.file("site.pub")}})
      ASSERT_EQ(testing::run(words, {}, 30s).status, 0);
  }

  void update_gpus() {
    site.rack().post("v01-n01", [](auto& machine) {
      for (int gpu = 1; gpu <= 8; ++gpu)
        machine.flash("HGX_FW_GPU_SXM_" + std::to_string(gpu), "96.00.99.00.01");
    });
  }

  /// A service of the site's state folder, and commands that ask it.
  std::vector<std::string> serving() const {
    site.write("service.yaml", "log: text\n");
    return site.cupel({"--programs", programs(), "serve", "--config", site.file("service.yaml"),
                       "--inventory", site.file("inventory.yaml"), "--socket", site.file("s")});
  }
  std::string programs() const {
    const std::filesystem::path folder = site.file("programs");
    if (std::filesystem::create_directory(folder))
      for (const auto* program : {"cupel-node", "cupel-burn"})
        site.write(std::string{"programs/"} + program, kVirtualProgram, 0755);
    return folder;
  }
  Ran there(std::vector<std::string> arguments, std::chrono::seconds patience = 60s) const {
    auto words = site.cupel(std::move(arguments));
    words.insert(words.begin() + 3, "CUPEL_SERVER=unix:" + site.file("s"));  // behind env -C
    return testing::run(words, {}, patience);
  }

  static inline std::unique_ptr<RackSite> made{};
  static inline Ran passed{};
  static inline std::vector<std::string> vbios{};  // of the GPUs, on the rack's loop
  RackSite& site = *made;
};

TEST_F(RequalifyTest, RunsWhatAnUpdateMakesVoidAndCertifiesTheRestOfTheFormerRun) {
  update_gpus();

  const auto ran = site.run({"requalify", "v01-n01", "--programs-on-nodes"}, 240s);

  ASSERT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("is now 96.00.99.00.01"));
  EXPECT_THAT(ran.out, HasSubstr(" changes: 1 stage of 6, "));
  EXPECT_THAT(ran.out, HasSubstr("kept: cpu, nvme\n"));
  const auto shown = site.run({"show", "v01-n01"});
  EXPECT_THAT(shown.out, ContainsRegex("\n  gemm +done"));
  EXPECT_THAT(shown.out, ContainsRegex("\n  train@whole +done"));
  EXPECT_THAT(shown.out, Not(ContainsRegex("\n  nvme +done")));

  make_keys();
  const auto issued = site.run({"certificate", "v01-n01", "--journal", "--key",
                                site.file("site.key"), "-o", site.file("it.certificate")});
  ASSERT_EQ(issued.status, 0) << issued.err;
  EXPECT_TRUE(std::filesystem::exists(site.file("it.certificate.run-1.journal")));
  const auto verified =
      site.run({"verify", site.file("it.certificate"), "--key", site.file("site.pub"), "--json"});
  ASSERT_EQ(verified.status, 0) << verified.out << verified.err;
  const auto reported = json_lines(verified.out).at(0);
  const auto& node = reported.at("nodes").at(0);
  EXPECT_EQ(text_at(node, "verdict"), "pass");
  EXPECT_EQ(node.at("kept_runs"), (json::array{1}));
  EXPECT_GT(number_at(node, "criteria"), 100);
  const auto& kept = reported.at("kept_journals").at(0);
  EXPECT_EQ(kept.at("run"), 1);
  EXPECT_THAT(*text_at(kept, "journal"), HasSubstr("whole: "));
}

/// Where nothing was swapped, too, the failed stage is run again, and not those that passed.
TEST_F(RequalifyTest, MeasuresAgainWhatFailedAfterASwapAndSaysThatThePartSitsWhereItWas) {
  plant(
      {{.kind = FaultKind::gpu_remap_failed, .part = "gpu3"}});  // which counts nothing, see below
  const auto failed = site.run(
      {"run", "qualify.yaml", "--nodes", "v01-n01", "--no-console", "--programs-on-nodes"}, 240s);
  ASSERT_EQ(failed.status, 1) << failed.out << failed.err;

  const auto ran = site.run({"requalify", "v01-n01", "--after-swap", "--programs-on-nodes"}, 240s);

  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("gpu3: it sits where it was"));
  const auto shown = site.run({"show", "v01-n01"});
  EXPECT_THAT(shown.out, ContainsRegex("\n  gpu-facts +done"));
  EXPECT_THAT(shown.out, Not(ContainsRegex("\n  nvme +done")));
  EXPECT_THAT(shown.out, Not(ContainsRegex("\n  gemm +done")));
}

/// Each swap is held against the run before it, which failed; after four of them all sits where it
/// sat. What is planted counts nothing that would stay behind, as the errors of a link do.
TEST_F(RequalifyTest, SaysAfterEachSwapWhetherTheFaultWentWithThePart) {
  const auto broken = [](const char* gpu) {
    return Fault{.kind = FaultKind::gpu_remap_failed, .part = gpu};
  };
  const auto swap = [&](std::vector<Fault> faults) {
    site.rack().post("v01-n01", [faults](auto& machine) {
      machine.exchange("gpu3", "gpu4");
      machine.set_faults(faults);
    });
    return site.run({"requalify", "v01-n01", "--after-swap", "--programs-on-nodes"}, 240s);
  };
  plant({broken("gpu3")});
  const auto failed = site.run(
      {"run", "qualify.yaml", "--nodes", "v01-n01", "--no-console", "--programs-on-nodes"}, 240s);
  ASSERT_EQ(failed.status, 1) << failed.out << failed.err;

  const auto moved = swap({broken("gpu4")});
  const auto stayed = swap({broken("gpu4")});
  const auto both = swap({broken("gpu3"), broken("gpu4")});
  const auto gone = swap({});

  EXPECT_EQ(moved.status, 1) << moved.out << moved.err;
  EXPECT_THAT(moved.out, HasSubstr("which was gpu4"));
  EXPECT_THAT(moved.out,
              HasSubstr("gpu3 (now gpu4): gpu.remap.failed went with the part: replace it"));
  EXPECT_EQ(stayed.status, 1) << stayed.out << stayed.err;
  EXPECT_THAT(stayed.out, HasSubstr("gpu4 (now gpu3): gpu.remap.failed stayed at gpu4"));
  EXPECT_EQ(both.status, 1) << both.out << both.err;
  EXPECT_THAT(both.out, HasSubstr("gpu4 (now gpu3): gpu.remap.failed fails with both parts"));
  EXPECT_EQ(gone.status, 0) << gone.out << gone.err;
  EXPECT_THAT(gone.out, HasSubstr("gpu3 (now gpu4): gpu.remap.failed fails nowhere any more"));
  EXPECT_THAT(gone.out, HasSubstr("gpu4 (now gpu3): gpu.remap.failed fails nowhere any more"));
}

TEST_F(RequalifyTest, PlansFromTheStoreAndRefusesAnotherMachineUnlessRequested) {
  const auto unseen = site.run({"requalify", "v01-n01", "--plan"});
  const auto reported =
      site.run({"requalify", "v01-n01", "--plan", "--replaced", "dimm A7", "--json"});
  const auto wrong = site.run({"requalify", "v01-n01", "--plan", "--replaced", "gpu33"});

  EXPECT_EQ(unseen.status, 2);
  EXPECT_THAT(unseen.err, HasSubstr("nothing was seen of v01-n01 since run 1"));
  ASSERT_EQ(reported.status, 0) << reported.err;
  const auto plan = json_lines(reported.out).at(0).at("requalify");
  EXPECT_EQ(plan.at("again").as_array().size(), 0);  // this playbook has no stage of memory
  EXPECT_EQ(plan.at("of_run"), 1);
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'gpu3'?"));
  EXPECT_THAT(site.run({"status"}).out, Not(HasSubstr("requalify")));

  Child service{serving()};
  ASSERT_TRUE(service.wait_for("serving "));
  const std::vector<std::string> planning{"requalify", "v01-n01", "--plan", "--replaced", "gpu3"};
  const auto here = site.run(planning);
  ASSERT_EQ(here.status, 0) << here.err;
  EXPECT_EQ(there(planning).out, here.out);
  plant({{.kind = FaultKind::node_swapped, .other = "v01-n02"}});

  const auto refused = there({"requalify", "v01-n01"}, 120s);
  const auto nothing = site.run({"requalify", "v01-n02"}, 120s);

  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("it is another machine, of which nothing is proven"));
  EXPECT_THAT(refused.err, HasSubstr("cupel requalify v01-n01 --new-machine"));
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.err, HasSubstr("v01-n02 has passed no run with a stage that loads it"));
  const auto anew = site.run({"requalify", "v01-n01", "--new-machine", "--plan"});
  EXPECT_EQ(anew.status, 0) << anew.err;
  EXPECT_THAT(anew.out, HasSubstr("all of qualify is run"));
}

TEST_F(RequalifyTest, AtAServiceALookAPlanAndAStartEndWithAVerdict) {
  Child service{serving()};
  ASSERT_TRUE(service.wait_for("serving "));
  const api::ServiceClient client{{.socket = site.file("s")}};
  const std::string node = "/api/v1/nodes/v01-n01/";
  update_gpus();

  const auto look = client.post(node + "look", {{"reason", "firmware of the GPUs"}});
  ASSERT_TRUE(look) << look.error().what;
  ASSERT_EQ(look->at("run"), 2);
  const auto looked = there({"follow", "2"}, 240s);
  ASSERT_EQ(looked.status, 0) << looked.out << looked.err;
  const json::object known{{"looked", 2}};
  const auto plan = client.post(node + "requalify-plan", known);
  ASSERT_TRUE(plan) << plan.error().what;
  const auto started = client.post(node + "requalify", known);
  ASSERT_TRUE(started) << started.error().what;
  ASSERT_EQ(started->at("run"), 3);
  const auto ended = there({"follow", "3"}, 240s);

  EXPECT_EQ(plan->at("of_run"), 1);
  ASSERT_EQ(plan->at("again").as_array().size(), 1u);
  EXPECT_EQ(plan->at("again").at(0).at("stage"), "gemm");
  EXPECT_EQ(plan->at("kept"), (json::array{"cpu", "nvme"}));
  EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
  const auto shown = client.get("/api/v1/runs/3/nodes/v01-n01");
  ASSERT_TRUE(shown) << shown.error().what;
  EXPECT_EQ(shown->at("verdict"), "pass") << ended.out;
  EXPECT_THAT(there({"show", "v01-n01"}).out, HasSubstr("v01-n01 in run 3: pass"));
  const auto again = client.post(node + "requalify", known);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().what, HasSubstr("another run has worked on v01-n01"));
}

}  // namespace
}  // namespace cupel::testing
