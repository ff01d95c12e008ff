// New firmware by each vendor's way, from the file to the version that runs.
#include "tests/bmc/vendor_behavior/fixture.h"
#include "tests/support/image_file.h"

namespace cupel::bmc {
namespace {

using State = UpdateProgress::State;
using test::virtual_image;
using ::testing::AnyOf;
using ::testing::IsEmpty;

class UpdateOfEachVendor : public OfEachVendor {
 protected:
  void SetUp() override { become({.speed = 2000}); }
  Result<UpdateTicket> push(UpdateOrder order) {
    return with_bmc([&](Bmc& bmc) { return bmc.update.push(order, soon()); });
  }
  Result<UpdateProgress> progress(const UpdateTicket& ticket) {
    return with_bmc([&](Bmc& bmc) { return bmc.update.progress(ticket, soon()); });
  }
  Result<UpdateService> service() {
    return with_bmc([](Bmc& bmc) { return bmc.update.service(soon()); });
  }
  /// What the task says once it no longer runs.
  UpdateProgress followed(const UpdateTicket& ticket) {
    const auto deadline = Deadline::in(60s);
    UpdateProgress seen{};
    const auto bmc = open();
    while (!deadline.passed()) {
      auto now = run(bmc->update.progress(ticket, soon()));
      if (now) seen = *now;
      if (now && now->state != State::running) break;
      (void)run(pause_for(20ms));
    }
    log_out(*bmc);
    return seen;
  }
  std::string version(const std::string& component) {
    return server().on([&](rehearsal::Machine& machine, rehearsal::BmcService& bmc) {
      for (const auto& one :
           rehearsal::components_of(machine.hardware(), bmc.behavior().names.bmc_version))
        if (one.name == component) return one.version;
      return std::string{};
    });
  }
  bool runs(const std::string& component, const std::string& requested) {
    const auto deadline = Deadline::in(60s);
    while (!deadline.passed()) {
      if (version(component) == requested) return true;
      (void)run(pause_for(20ms));
    }
    return false;
  }
  void restart_host() {
    server().on([](rehearsal::Machine& machine, auto&) {
      return machine.press(rehearsal::Reset::force_restart);
    });
    server().wait_until([](rehearsal::Machine& machine) { return machine.up(); });
  }

  test::ImageFile image{virtual_image("HostBIOS_0", "02.00.00")};
};
INSTANTIATE_TEST_SUITE_P(Vendor, UpdateOfEachVendor, ::testing::ValuesIn(all_abilities()),
                         name_of_vendor);

TEST_P(UpdateOfEachVendor, ServiceListsItsWaysAndIsIdle) {
  const auto seen = service();

  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_TRUE(seen->enabled);
  EXPECT_THAT(seen->busy, IsEmpty());
  const std::map<std::string_view, std::string> best{{"hpe", "form"}, {"hpe-ilo5", "form"}};
  const auto row = best.find(abilities().vendor);
  ASSERT_FALSE(seen->ways.empty());
  EXPECT_EQ(seen->ways.front(), row == best.end() ? "multipart" : row->second);
}

TEST_P(UpdateOfEachVendor, APushedBiosRunsAfterTheHostsRestart) {
  ASSERT_TRUE(server().boot());

  auto ticket = push(image.order());
  ASSERT_TRUE(ticket) << ticket.error().what;
  auto seen = followed(*ticket);
  if (seen.state == State::verified) {
    ticket = with_bmc([&](Bmc& bmc) { return bmc.update.go_on(*ticket, soon()); });
    ASSERT_TRUE(ticket) << ticket.error().what;
    seen = followed(*ticket);
  }

  EXPECT_THAT(seen.state, AnyOf(State::done, State::needs_reset)) << seen.reported << seen.message;
  restart_host();
  EXPECT_TRUE(runs("HostBIOS_0", "02.00.00")) << version("HostBIOS_0");
}

TEST_P(UpdateOfEachVendor, IsBusyWhileAnUpdateRunsAndRefusesAnother) {
  become({.speed = 20});
  const auto first = push(image.order());
  ASSERT_TRUE(first) << first.error().what;

  const auto seen = service();
  const auto second = push(image.order());

  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_THAT(seen->busy, Not(IsEmpty()));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kBusy) << second.error().what;
  EXPECT_GT(second.error().retry_after, 0ms);
}

TEST_P(UpdateOfEachVendor, AnImageForAnotherMachineFailsWithTheBmcsWords) {
  const test::ImageFile other{virtual_image("Toaster_0", "7")};

  const auto ticket = push(other.order());
  // A bmcweb says so at once.
  if (!ticket) {
    EXPECT_THAT(ticket.error().what, HasSubstr("no component of this machine"));
    return;
  }
  const auto seen = followed(*ticket);

  EXPECT_EQ(seen.state, State::failed) << seen.reported;
  EXPECT_THAT(seen.message, Not(IsEmpty()));
}

TEST_P(UpdateOfEachVendor, AFileThatIsNotTheOneThatWasCheckedNeverArrivesWhole) {
  auto order = image.order();
  order.sha256[0] = order.sha256[0] == '0' ? '1' : '0';

  const auto ticket = push(order);

  ASSERT_FALSE(ticket);
  EXPECT_EQ(ticket.error().code, Code::kInvalid) << ticket.error().what;
  EXPECT_THAT(ticket.error().what, HasSubstr(image.path().string()));
  EXPECT_EQ(server().on(
                [](auto&, rehearsal::BmcService& bmc) { return bmc.state().updates.all().size(); }),
            0u);
}

TEST_P(UpdateOfEachVendor, NoPasswordIsTakenForWrongWhileTheBmcsOwnFirmwareIsWritten) {
  become({.speed = 400});
  const test::ImageFile own{virtual_image("HostBMC_0", "99.1")};

  auto ticket = push(own.order("bmc"));
  ASSERT_TRUE(ticket) << ticket.error().what;
  const auto deadline = Deadline::in(60s);
  for (bool over = false; !over && !deadline.passed();) {
    const auto seen = progress(*ticket);
    if (seen && seen->state == State::verified)
      ticket = with_bmc([&](Bmc& bmc) { return bmc.update.go_on(*ticket, soon()); });
    else
      over = seen && seen->state != State::running;
    // A session that ended with a restart says nothing about the password.
    const bool refused = !seen && seen.error().code == Code::kRefused;
    if (refused) ASSERT_THAT(seen.error().what, HasSubstr("NoValidSession"));
  }

  const auto after = service();
  EXPECT_TRUE(after) << after.error().what;
}

TEST_P(UpdateOfEachVendor, ATaskThatTheBmcDoesNotKnowIsGone) {
  const auto seen = progress({.way = "multipart", .task = "/redfish/v1/TaskService/Tasks/4711"});

  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_EQ(seen->state, State::gone);
}

}  // namespace
}  // namespace cupel::bmc
