// Boot tickets are secrets: no reader of events gets one, whichever version of Cupel wrote it; and
// a resume finds its own.
#include "orchestrator/store/step_secrets.h"

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"
#include "orchestrator/store/journal_file.h"
#include "orchestrator/store/journal_reader.h"
#include "orchestrator/store/pins.h"
#include "orchestrator/store/resume.h"
#include "tests/orchestrator/store_fixture.h"

namespace cupel::store {
namespace {

using engine::EventKind;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kToken = "0123456789abcdef0123456789abcdef";
const std::string kHome = "fedcba9876543210fedcba9876543210";
const std::string kHandle = R"({"stage":"up","token":")" + kToken +
                            R"(","base":"http://10.0.0.1:1/boot/)" + kToken +
                            R"(/","home":"http://10.0.0.1:1/home/)" + kHome + R"("})";

class StepSecrets : public StoreTest {
 protected:
  /// What a run wrote whose Cupel kept tickets in its events.
  void write_former_event() {
    Store& store = *(store_ = open());
    run_ = store.begin_run(run_on({"n1"})).value();
    auto begun = event(EventKind::run_started);
    ASSERT_TRUE(store.append(run_, begun));
    auto started = event(EventKind::step_started, "n1", "os");
    ASSERT_TRUE(store.append(run_, started));
    const auto data = json::serialize(json::object{{"handle", kHandle}});
    const auto time = std::to_string(started.time.time_since_epoch().count());
    const auto hash = sha256_hex(begun.hash + "\n" + std::to_string(run_) + "\n2\n" + time +
                                 "\nstep-started\nn1\nos\n" + data);
    sql("UPDATE event SET data = '" + data + "', hash = '" + hash + "' WHERE sequence = 2");
    auto over = event(EventKind::run_ended);
    store_ = open();
    ASSERT_TRUE(store_->append(run_, over));
    ASSERT_EQ(store_->broken_at(run_).value(), std::nullopt);
  }
  static auto no_ticket() { return AllOf(Not(HasSubstr(kToken)), Not(HasSubstr(kHome))); }

  std::unique_ptr<Store> store_{};
  RunId run_ = 0;
};

TEST_F(StepSecrets, ReadersOfFormerJournalsGetNoTicket) {
  write_former_event();

  for (const auto& read : store_->events(run_).value())
    EXPECT_THAT(json::serialize(read.data), no_ticket());
  for (const auto& read : store_->events_after(run_, 0).value())
    EXPECT_THAT(json::serialize(read.data), no_ticket());
  const auto reader = JournalReader::open(folder_).value();
  for (const auto& read : reader.page({.run = run_}).value()) {
    EXPECT_THAT(read.data, no_ticket());
    EXPECT_TRUE(parse_json(read.data)) << read.data;
  }
}

TEST_F(StepSecrets, AResumeOfAFormerJournalGetsItsTicket) {
  write_former_event();

  const auto events = events_to_resume(*store_, run_, 0).value();

  EXPECT_EQ(std::string{events[1].data.at("handle").as_string()}, kHandle);
}

TEST_F(StepSecrets, AJournalFileOfAFormerRunHasNoTicketAndIsWhole) {
  write_former_event();
  const auto file = folder_ / "journal";

  const auto written = write_journal(*store_, run_, file).value();
  const auto checked = check_journal(file).value();

  EXPECT_THAT(read_file(file, 1u << 20).value(), no_ticket());
  EXPECT_EQ(written.cut, 1);
  EXPECT_EQ(checked.cut, 1);
  EXPECT_EQ(checked.events, 3);
  EXPECT_EQ(checked.head, written.head);
  EXPECT_EQ(checked.sha256, written.sha256);
}

TEST_F(StepSecrets, NoEventIsWrittenWithATicketThatABmcOrNodeSaid) {
  store_ = open();
  run_ = store_->begin_run(run_on({"n1"})).value();
  auto ended = event(EventKind::step_ended, "n1", "os");
  ended.data = {{"detail", "no such URI: http://10.0.0.1:1/boot/" + kToken + "/ram.efi"}};

  ASSERT_TRUE(store_->append(run_, ended));

  const auto kept = events_to_resume(*store_, run_, 0).value();
  EXPECT_THAT(json::serialize(kept[0].data),
              AllOf(no_ticket(), HasSubstr("/boot/xxxxxxxx"), HasSubstr("/ram.efi")));
  EXPECT_EQ(store_->broken_at(run_).value(), std::nullopt);
}

TEST_F(StepSecrets, ASecretIsKeptUntilTheRunIsOver) {
  store_ = open();
  run_ = store_->begin_run(run_on({"n1"})).value();
  ASSERT_TRUE(keep_secret(*store_, run_, "one", "kept"));

  EXPECT_EQ(secret(*open(), run_, "one").value(), "kept");
  EXPECT_EQ(secret(*store_, run_ + 1, "one").error().code, Code::kNotFound);

  auto over = event(EventKind::run_ended);
  ASSERT_TRUE(store_->append(run_, over));
  EXPECT_EQ(secret(*store_, run_, "one").error().code, Code::kNotFound);
}

TEST_F(StepSecrets, OtherDigitsStandAsTheyAre) {
  const std::string text = R"({"sha256":")" + kToken + kToken +
                           R"(","url":"http://h/boot/ram.efi",)" + R"("path":"/home/user/)" +
                           kToken + R"("})";

  EXPECT_EQ(cut_tickets(text), text);
  EXPECT_FALSE(has_cut_ticket(text));
}

TEST_F(StepSecrets, AReportedKeyReplacesNoneThatAPersonPinned) {
  store_ = open();
  store_->pin("ssh:n1", "SHA256:first-use");
  ASSERT_TRUE(store_->repin("ssh:n2", "SHA256:of a person"));

  EXPECT_TRUE(pin_reported(*store_, "ssh:n1", "SHA256:new"));
  EXPECT_TRUE(pin_reported(*store_, "ssh:n2", "SHA256:of a person"));
  EXPECT_EQ(pin_reported(*store_, "ssh:n2", "SHA256:new").error().code, Code::kUntrusted);

  EXPECT_EQ(store_->pinned("ssh:n1"), "SHA256:new");
  EXPECT_EQ(store_->pinned("ssh:n2"), "SHA256:of a person");
  EXPECT_FALSE(is_pinned_by_person(*store_, "ssh:n1").value());
  EXPECT_TRUE(is_pinned_by_person(*store_, "ssh:n2").value());
}

}  // namespace
}  // namespace cupel::store
