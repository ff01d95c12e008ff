// What a boot survives: controllers that die, BMCs that do not answer, machines that lose power.
#include "orchestrator/console/bounded_log.h"
#include "orchestrator/os/boot_order.h"
#include "orchestrator/os/boot_run.h"
#include "tests/orchestrator/os_step.h"

namespace cupel::steps {
namespace {

using ::testing::HasSubstr;

class OsRecovery : public OsStep {
 protected:
  /// One controller that dies at this write of its journal, and the one that follows.
  void die_at(std::size_t room, bool after_writing, bool says_hello_again) {
    machine_ = {};
    machine_.says_hello_again = says_hello_again;
    journal_ = {};
    journal_.room = room;
    journal_.dies_after_writing = after_writing;
    ASSERT_TRUE(store_->repin("ssh:n1", ""));
    EXPECT_FALSE(control());
    journal_.room = 1'000;
    ASSERT_TRUE(control());
  }

  /// Which write of the journal has the address that said hello, after a whole run.
  std::size_t write_of_hello() const {
    std::size_t at = 0;
    const auto& all = journal_.events;
    while (at < all.size() && !json::serialize(all[at].data).contains(machine_.address)) ++at;
    EXPECT_LT(at, all.size()) << "the journal has the address of the hello";
    return at;
  }
};

TEST_F(OsRecovery, WritesOnceHoweverOftenTheControllerDies) {
  ASSERT_TRUE(control());
  const auto writes = journal_.events.size();
  for (const bool after : {false, true})
    for (std::size_t room = 0; room < writes; ++room) {
      SCOPED_TRACE(::testing::Message() << "died at write " << room << (after ? ", written" : ""));
      die_at(room, after, true);

      EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
      EXPECT_LE(machine_.images_written, 1);
      EXPECT_EQ(machine_.boots, 1) << "it goes on with what it has begun";
      EXPECT_EQ(machine_.installed, digest_);
    }
}

TEST_F(OsRecovery, WhatHasNoSeedIsWrittenOnceTooAndItsKeyIsPinned) {
  inventory_.profiles.at("p").os.seed = false;
  host_keys_ = {"SHA256:new"};
  ASSERT_TRUE(control());
  const auto writes = journal_.events.size();
  for (std::size_t room = 0; room < writes; ++room) {
    SCOPED_TRACE(::testing::Message() << "died after write " << room);
    die_at(room, true, true);

    EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
    EXPECT_EQ(machine_.images_written, 1);
    EXPECT_EQ(machine_.boots, 1);
    EXPECT_EQ(store_->pinned("ssh:n1"), "SHA256:new");
  }
}

TEST_F(OsRecovery, TheNextControllerKnowsWhichMachineSaidHello) {
  ASSERT_TRUE(control());
  const auto writes = journal_.events.size();
  const auto hello = write_of_hello();
  for (auto room = hello; room < writes; ++room) {
    SCOPED_TRACE(::testing::Message() << "died after write " << room);
    die_at(room, true, false);

    EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
    EXPECT_EQ(machine_.boots, 1);
  }
}

TEST_F(OsRecovery, WhatTheConsoleShowedBeforeTheControllerCameEndsNothing) {
  ASSERT_TRUE(control());
  const auto room = write_of_hello();
  machine_ = {};
  journal_ = {};
  journal_.room = room;
  journal_.dies_after_writing = true;
  EXPECT_FALSE(control());
  console::BoundedLog log{console::console_folder(store_->folder(), 1), "n1"};
  ASSERT_TRUE(log.append("Kernel panic - not syncing: of a boot that is long over\r\n"));
  journal_.room = 1'000;
  machine_.looks_in_vain = 1;

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(machine_.boots, 1);
}

TEST_F(OsRecovery, LeavesNoDiscHoweverTheControllerDies) {
  set_step(StepKind::os, "os", {{"ways", "media"}});
  ASSERT_TRUE(control());
  const auto writes = journal_.events.size();
  for (std::size_t room = 0; room < writes; ++room) {
    SCOPED_TRACE(::testing::Message() << "died at write " << room);
    die_at(room, false, true);

    EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
    EXPECT_EQ(machine_.disc, "");
  }
}

TEST_F(OsRecovery, ABmcThatDoesNotAnswerAfterTheHelloStopsNothing) {
  machine_.boot_reads_that_fail = 1;
  machine_.says_hello_again = false;
  tries_ = 3;
  set_step(StepKind::os, "os");

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(machine_.boots, 1);
  EXPECT_EQ(machine_.images_written, 1);
}

TEST_F(OsRecovery, AMachineThatIsPowerCycledWhileItWritesIsBootedAgain) {
  machine_.power_cut_while_writing = 2;

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_THAT(end_.detail, HasSubstr("it was restarted, and began again"));
  EXPECT_EQ(machine_.boots, 3);
  EXPECT_EQ(machine_.images_written, 1);
}

TEST_F(OsRecovery, DhcpSendsAMachineThatIsBootedAgainToItsTicket) {
  machine_.power_cut_while_writing = 1;
  set_step(StepKind::os, "os", {{"ways", "dhcp-http"}});

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_EQ(machine_.boots, 2);
}

TEST_F(OsRecovery, AMachineThatBootsTheNetworkFirstBeginsAgainByItself) {
  machine_.power_cut_while_writing = 2;
  machine_.comes_back_by_itself = true;

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::done) << end_.detail;
  EXPECT_THAT(end_.detail, HasSubstr("restarted while the image was written"));
  EXPECT_EQ(machine_.boots, 1);
}

TEST_F(OsRecovery, AMachineThatGoesSilentAgainAndAgainIsGivenUp) {
  machine_.power_cut_while_writing = 100;

  ASSERT_TRUE(control());

  EXPECT_EQ(end_.phase, Phase::failed);
  EXPECT_THAT(end_.detail, HasSubstr("was not heard of any more while it wrote the image"));
  EXPECT_EQ(machine_.boots, 4);
  EXPECT_EQ(machine_.images_written, 0);
}

/// A boot whose image is written, and whose new system is waited for: nothing answers.
class WaitForSystem : public OsStep {
 protected:
  WaitForSystem() {
    doors_.order = [this](const netboot::Ticket& ticket) {
      os::BootRequest request{.boots = door_->ram_system("ram").value(),
                              .os = door_->os_image("debian-12").value(),
                              .seed = !unseeded_,
                              .public_key = std::string{test::kNewKey}};
      return os::boot_order(inventory_, node_, request, ticket);
    };
    doors_.keep_ticket = [](const netboot::Ticket&) -> Result<void> { return ok(); };
    doors_.keep = [](std::string) -> Task<Result<void>> { co_return ok(); };
    doors_.waiting = [](std::string) {};
    doors_.ways = {inventory::BootWay::uefi_http};
    doors_.digest = digest_;
    doors_.patience.look = std::chrono::milliseconds{10};
    doors_.patience.home = std::chrono::milliseconds{100};
    doors_.pace.until_restart_shows = {};
  }

  /// As an SSH connection to a machine that drops what it gets; the boot is cancelled meanwhile.
  Task<void> hang() {
    ++seen_;
    co_await asio::post(io_, asio::use_awaitable);  // the boot may be looking before it can be cut
    cut_.cancel();
    [[maybe_unused]] const auto hung = co_await pause_for(std::chrono::milliseconds{500});
  }
  void wait_for_ssh() {
    unseeded_ = true;
    doors_.look_for_system = [this](std::string, Deadline) -> Task<std::optional<os::FoundSystem>> {
      co_await hang();
      co_return std::nullopt;
    };
  }
  void wait_for_home() {
    machine_.boots_old_system = true;
    doors_.old_system_answers = [this](Deadline) -> Task<bool> {
      co_await hang();
      co_return false;
    };
  }

  Task<Result<os::BootEnd>> until_cut(Deadline deadline) {
    os::BootRun run{doors_};
    std::optional<Result<os::BootEnd>> slot;
    auto work = run.run(deadline);
    auto race = asio::experimental::make_parallel_group(
        asio::co_spawn(io_, detail::run_into(slot, std::move(work)), asio::deferred),
        cut_.async_wait(asio::deferred));
    co_await race.async_wait(asio::experimental::wait_for_one(), asio::use_awaitable);
    co_return std::move(*slot);
  }

  asio::io_context io_{};
  asio::steady_timer cut_{io_, asio::steady_timer::time_point::max()};
  std::shared_ptr<os::BootInterface> door_ = test::boot_door(machine_, digest_);
  test::BootBmc bmc_{machine_};
  os::BootInterfaces doors_{.bmc = bmc_, .server = *door_};
  bool unseeded_ = false;
  int seen_ = 0;  // how often was looked
};

TEST_F(WaitForSystem, IsCutInTheMidstOfALookForWhatAnswersSsh) {
  wait_for_ssh();

  const auto end = run_to_end(io_, until_cut(Deadline::in(std::chrono::hours{1})));

  ASSERT_FALSE(end) << end.value().detail;
  EXPECT_EQ(end.error().code, Code::kCancelled);
  EXPECT_EQ(seen_, 1);
}

TEST_F(WaitForSystem, IsCutInTheMidstOfALookAtItsOldSystem) {
  wait_for_home();

  const auto end = run_to_end(io_, until_cut(Deadline::in(std::chrono::hours{1})));

  ASSERT_FALSE(end) << end.value().detail;
  EXPECT_EQ(end.error().code, Code::kCancelled);
  EXPECT_EQ(seen_, 1);
}

TEST_F(WaitForSystem, EndsAtItsDeadlineAndSaysWhatWasWaitedFor) {
  unseeded_ = true;
  doors_.patience.home = std::chrono::hours{1};
  doors_.look_for_system = [this](std::string, Deadline) -> Task<std::optional<os::FoundSystem>> {
    ++seen_;
    co_return std::nullopt;
  };

  os::BootRun run{doors_};
  const auto end = run_to_end(io_, run.run(Deadline::in(std::chrono::seconds{1})));

  ASSERT_TRUE(end) << end.error().what;
  EXPECT_EQ(end.value().how, os::BootEnd::How::needs_person);
  EXPECT_THAT(end.value().detail, HasSubstr("no system that it booted from its disk answers SSH"));
  EXPECT_GT(seen_, 1);
}

}  // namespace
}  // namespace cupel::steps
