#pragma once
// An updater on a machine in memory: what it asked and wrote, in order, and how it ended.
#include <gtest/gtest.h>

#include "inventory/fwd.h"
#include "inventory/profile.h"
#include "orchestrator/firmware/updater.h"
#include "tests/support/firmware_machine.h"

namespace cupel::firmware {

using namespace std::chrono_literals;
using How = UpdateEnd::How;

inline constexpr auto kTask = "/redfish/v1/TaskService/Tasks/1";

class Updating : public ::testing::Test {
 protected:
  Updating() { profile.firmware = {component("bios", "BIOS", "2.4")}; }

  static inventory::ExpectedFirmware component(std::string name, std::string id,
                                               std::string version) {
    inventory::ExpectedFirmware one;
    one.component = std::move(name);
    one.version = std::move(version);
    one.ids = {std::move(id)};
    one.image = inventory::FirmwareImage{.file = "/srv/images/one.bin", .sha256 = "aa"};
    one.takes = 100s;
    one.settles = 0s;
    return one;
  }

  UpdaterInterfaces doors() {
    UpdaterInterfaces doors{.profile = profile, .bmc = bmc};
    doors.image = [](FirmwareUpdate update, bmc::Identity,
                     Deadline) -> Task<Result<bmc::UpdateOrder>> {
      co_return bmc::UpdateOrder{.file = update.image.file,
                                 .name = update.replaces.front().id + "=" + update.version,
                                 .bytes = 1'000};
    };
    doors.keep = [this](UpdateHandle handle) -> Task<Result<void>> {
      kept.push_back(std::move(handle));
      machine.asked.push_back("kept " + words[static_cast<std::size_t>(kept.back().phase)]);
      co_return ok();
    };
    doors.hold_power = [this](const UpdateHandle&, std::chrono::seconds longest) -> Result<void> {
      held = longest > 0s;
      return ok();
    };
    doors.forget_refusals = [] {};
    doors.waiting = [](const std::string&) {};
    // Each look at the clock is ten seconds later than the one before.
    doors.now = [this] { return clock += 10s; };
    doors.poll = 0ms;
    doors.pace.first = doors.pace.until_restart_shows = 1ms;
    return doors;
  }

  Result<UpdateEnd> run() {
    asio::io_context io;
    Updater updater{doors()};
    auto ended = run_to_end(io, updater.run(Deadline::in(60s)));
    done = updater.done();
    return ended;
  }
  Result<UpdateEnd> resume(UpdateHandle handle) {
    asio::io_context io;
    Updater updater{doors()};
    return run_to_end(io, updater.resume(std::move(handle), Deadline::in(60s)));
  }
  UpdateHandle handle(UpdateHandle::Phase phase) const {
    return {.phase = phase,
            .component = "bios",
            .version = "2.4",
            .targets = 1,
            .ticket = {"multipart", kTask},
            .pushed = clock};
  }

  inventory::Profile profile{};
  test::FirmwareMachine machine{};
  test::FirmwareBmc bmc{machine};
  std::vector<UpdateHandle> kept{};
  std::vector<UpdateDone> done{};
  bool held = false;
  std::chrono::sys_seconds clock{1'000'000s};
  const std::vector<std::string> words{"pushing", "writing", "starting", "resetting", "refused"};
};

}  // namespace cupel::firmware
