// Drives that were erased, as a certificate has them, and as a requalification leaves them alone.
#include <gmock/gmock.h>

#include "base/json.h"
#include "burnin/disk/media.h"
#include "inventory/model.h"
#include "inventory/node.h"
#include "inventory/profile.h"
#include "orchestrator/certificate/statement.h"
#include "orchestrator/requalify/selection.h"
#include "orchestrator/steps/node_steps.h"
#include "playbooks/plan.h"
#include "playbooks/playbook.h"
#include "playbooks/step_kind.h"
#include "tests/orchestrator/report_fixture.h"
#include "tests/support/captures.h"

namespace cupel::certificate {
namespace {

using ::testing::HasSubstr;

class ErasedMedia : public report::Report {
 protected:
  ErasedMedia() {
    issue.at = engine::WallTime{std::chrono::sys_days{std::chrono::year{2026} / 11 / 30}};
    issue.expires = issue.at + std::chrono::hours{24};
  }

  void erase(const std::vector<burnin::ErasedMedium>& media, const burnin::Verdict& verdict) {
    json::object facts{{"system.serial", "1660A"}};
    for (const auto& medium : media) {
      const auto [name, text] = burnin::fact_of(medium);
      facts[name] = text;
    }
    end("a01-n01", "sanitize", {{"facts", std::move(facts)}});
    end("a01-n01", "verdict", record::to_json(verdict));
    add({engine::EventKind::run_ended});
    issue.nodes = {"a01-n01"};
  }
  static burnin::Verdict passed() {
    auto verdict = good();
    verdict.checked.push_back({.stage = "sanitize",
                               .part = "nvme0",
                               .measure = "nvme.sanitized",
                               .quantity = {.value = 1, .at_least = 1},
                               .met = burnin::Met::met,
                               .source = "NIST SP 800-88"});
    return verdict;
  }
  static burnin::ErasedMedium erased() {
    return {.serial = "S64H0001",
            .drive = "nvme0",
            .model = "MZQL2",
            .result = "erased",
            .method = "Purge",
            .technique = "sanitize block erase",
            .tool = "nvme sanitize --sanact=2",
            .verification = "sanitize log: completed"};
  }
  static burnin::ErasedMedium failed() {
    return {.serial = "S64H0002", .drive = "nvme1", .result = "failed", .why = "it gave up"};
  }

  Issue issue{};
};

TEST_F(ErasedMedia, StandInTheCertificateByTheirSerialNumbers) {
  erase({erased(), failed()}, bad());

  const auto statement = statement_of(summary(), issue);
  ASSERT_TRUE(statement) << statement.error().what;
  const auto says = read_statement(payload_of(*statement));
  ASSERT_TRUE(says) << says.error().what;

  ASSERT_EQ(says->nodes.at(0).media.size(), 2u);
  const auto& good_one = says->nodes[0].media[0];
  EXPECT_EQ(good_one.serial, "S64H0001");
  EXPECT_EQ(good_one.result, "erased");
  EXPECT_EQ(good_one.method, "Purge");
  EXPECT_EQ(good_one.tool, "nvme sanitize --sanact=2");
  EXPECT_FALSE(good_one.at.empty());
  const auto& bad_one = says->nodes[0].media[1];
  EXPECT_EQ(bad_one.result, "failed");
  EXPECT_EQ(bad_one.method, "");
  EXPECT_EQ(bad_one.why, "it gave up");
  const auto& written = statement->at("predicate").at("nodes").at(0).at("media").at(0);
  EXPECT_EQ(text_at(written, "verification"), "sanitize log: completed");
}

TEST_F(ErasedMedia, ThatWereNotErasedAreInNoCertificateOfAPass) {
  erase({erased()}, passed());
  const auto statement = *statement_of(summary(), issue);
  json::error_code failure;
  const auto refused = [&](const char* pointer, const json::value& instead) {
    json::value changed = statement;
    *changed.find_pointer(pointer, failure) = instead;
    const auto says = read_statement(payload_of(changed.as_object()));
    return says ? std::string{"taken"} : says.error().what;
  };
  const auto medium = [](json::object object) { return json::array{std::move(object)}; };

  EXPECT_EQ(refused("/predicate/nodes/0/media/0/method", "Clear"), "taken");
  EXPECT_THAT(refused("/predicate/nodes/0/media/0/method", "Wipe"),
              HasSubstr("its result and its method contradict each other"));
  EXPECT_THAT(refused("/predicate/nodes/0/media/0/serial", ""), HasSubstr("no serial number"));
  EXPECT_THAT(refused("/predicate/nodes/0/media/0/result", "failed"), HasSubstr("contradict"));
  EXPECT_THAT(
      refused("/predicate/nodes/0/media", medium({{"serial", "S64H0002"}, {"result", "skipped"}})),
      HasSubstr("it says that a01-n01 passed, and its medium S64H0002 was not erased"));
  EXPECT_THAT(refused("/predicate/nodes/0/media", "none"), HasSubstr("\"media\" of a01-n01"));
}

TEST(Requalify, RefusesARunThatErasedTheMachinesDrives) {
  std::vector<inventory::Problem> problems;
  const auto playbook = playbooks::load_playbook("sanitize", problems);
  ASSERT_TRUE(playbook) << to_string(problems);
  inventory::Inventory inventory;
  inventory::Node node;
  node.name = "a01-n07";
  node.profile = "p";
  inventory.nodes.push_back(node);
  inventory.profiles.emplace("p", inventory::Profile{.name = "p"});

  const auto selection =
      requalify::select_stages(*playbook, inventory, inventory.nodes.front(), {.run = 12});

  ASSERT_FALSE(selection);
  EXPECT_THAT(selection.error().what, HasSubstr("run 12 erased the machine's drives"));
}

TEST_F(ErasedMedia, AreNotTouchedWhereTheBmcReportsAnotherMachine) {
  end("a01-n01", "bmc-facts", {{"bmc_parts", json::array{}}, {"system_serial", "1660B"}});
  inventory::Node node;
  node.name = "a01-n01";
  node.serial = "1660A";
  playbooks::PlannedStep planned;
  planned.kind = playbooks::StepKind::stage;
  planned.name = "sanitize";
  const inventory::Inventory inventory;
  const auto stop = engine::Stop::no;
  steps::NodeSteps steps{steps::StepEnvironment{inventory, *store, {}, {}, nullptr}};
  const engine::StepRequest request{id,
                                    node,
                                    {},
                                    planned,
                                    1,
                                    {},
                                    Deadline::in(std::chrono::hours{1}),
                                    stop,
                                    {},
                                    [](const std::string&) {}};
  asio::io_context io;

  const auto ended = run_to_end(io, steps.perform(request));

  const auto why = ended ? ended->detail : ended.error().what;
  EXPECT_THAT(why, HasSubstr("the BMC reports serial number '1660B', and the inventory has '1660A' "
                             "for a01-n01: no drive is looked at or erased"));
  EXPECT_TRUE(!ended || ended->outcome != engine::Outcome::done);
}

}  // namespace
}  // namespace cupel::certificate
