// Updates that go wrong on a BMC over HTTPS: what each comes to, and what the BMC was given.
#include <gmock/gmock.h>

#include <set>

#include "base/file.h"
#include "base/for_each_of.h"
#include "base/wall_clock.h"
#include "bmc/redfish/redfish.h"
#include "orchestrator/controller/firmware_images.h"
#include "orchestrator/firmware/updater.h"
#include "orchestrator/images/image_server.h"
#include "orchestrator/settings/converge.h"
#include "rehearsal/bmc/image.h"
#include "tests/support/captures.h"
#include "tests/support/certificate.h"
#include "tests/support/image_file.h"
#include "tests/support/virtual_bmc.h"

namespace cupel::firmware {
namespace {

using namespace std::chrono_literals;
using How = UpdateEnd::How;
using rehearsal::Fault;
using rehearsal::FaultKind;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kPart = "PSU_1", kVersion = "9.9";

class Keys final : public inventory::KnownKeys {
 public:
  std::optional<std::string> pinned(std::string_view name) override {
    const auto known = pins_.find(std::string{name});
    return known == pins_.end() ? std::nullopt : std::optional{known->second};
  }
  void pin(std::string_view name, std::string_view key) override { pins_[std::string{name}] = key; }

 private:
  std::map<std::string, std::string> pins_;
};

std::string image_of(std::string model = {}, std::size_t size = 4096) {
  std::string bytes;
  const rehearsal::ImagePlan plan{
      {{std::string{kPart}, std::string{kVersion}}}, std::move(model), size};
  EXPECT_TRUE(rehearsal::write_image(plan, [&](std::string_view piece) { bytes += piece; }));
  return bytes;
}

/// A controller's own way to the BMC.
struct Controller {
  explicit Controller(asio::io_context& io) : transport{io.get_executor()} {}

  std::unique_ptr<bmc::Bmc> open(test::VirtualBmc& server) {
    const auto secret = [password = server.password()]() -> Task<Result<std::string>> {
      return [](std::string copy) -> Task<Result<std::string>> { co_return copy; }(password);
    };
    return bmc::redfish::open(
        transport, "n1",
        {.endpoint = server.endpoint(), .user = server.user(), .password = {}, .trust = {}}, secret,
        keys);
  }

  bmc::redfish::Transport transport;
  Keys keys{};
  std::optional<UpdateHandle> kept{};
};

class UpdateThatGoesWrong : public ::testing::Test {
 protected:
  UpdateThatGoesWrong() {
    inventory::ExpectedFirmware psu{.component = "psu", .version = std::string{kVersion}};
    psu.ids = {std::string{kPart}};
    psu.image = inventory::FirmwareImage{.file = "psu.bin"};
    psu.takes = 120s;
    psu.settles = 0s;
    profile.firmware = {psu};
    order = image.order("psu");
  }

  void with(std::vector<Fault> faults, const std::string& vendor = "dgx") {
    server = std::make_unique<test::VirtualBmc>(test::VirtualBmc::Options{
        .bmc = {.vendor = vendor}, .speed = 500, .faults = std::move(faults)});
    ASSERT_TRUE(server->boot());
  }

  UpdaterInterfaces doors(bmc::Bmc& bmc, Controller& controller) {
    UpdaterInterfaces doors{.profile = profile, .bmc = bmc};
    doors.image = [this](FirmwareUpdate update, bmc::Identity,
                         Deadline) -> Task<Result<bmc::UpdateOrder>> {
      ++pushes;
      co_return update.image.is_named() ? order : previous;
    };
    doors.keep = [&controller](UpdateHandle handle) -> Task<Result<void>> {
      controller.kept = std::move(handle);
      co_return ok();
    };
    doors.hold_power = [this](const UpdateHandle&, std::chrono::seconds longest) -> Result<void> {
      held = longest > 0s;
      return ok();
    };
    doors.forget_refusals = [] {};
    doors.waiting = [](const std::string&) {};
    doors.now = seconds_now;
    doors.poll = 20ms;
    doors.pace.until_restart_shows = 100ms;
    doors.clock_may_be_off = std::chrono::days{30};  // the rack's time runs ahead
    doors.serve = serve;
    doors.serve_no_more = [](const std::string&) {};
    return doors;
  }

  /// All power supplies, each with one version.
  static std::string supplies(const std::string& version) {
    std::string bytes;
    rehearsal::ImagePlan plan{{}, {}, 8192};
    for (int i = 0; i < 6; ++i) plan.contents.push_back({"PSU_" + std::to_string(i), version});
    EXPECT_TRUE(rehearsal::write_image(plan, [&](std::string_view piece) { bytes += piece; }));
    return bytes;
  }
  std::set<std::string> versions_of_supplies() {
    return server->on([](rehearsal::Machine& machine, rehearsal::BmcService& bmc) {
      std::set<std::string> versions;
      for (const auto& one :
           rehearsal::components_of(machine.hardware(), bmc.behavior().names.bmc_version))
        if (one.name.starts_with("PSU_")) versions.insert(one.version);
      return versions;
    });
  }

  Task<Result<UpdateEnd>> bring_to_baseline(Controller& controller) {
    const auto bmc = controller.open(*server);
    const auto asked = controller.open(*server);
    if (fetches_by) only_fetch(*bmc, *asked);
    Updater updater{doors(*bmc, controller)};
    const auto until = Deadline::in(120s);
    auto ended = co_await updater.run(until);
    // As the engine does: a BMC that is not there for a while is asked again, from the handle.
    while (!ended && is_transient(ended.error().code) && controller.kept && !until.passed()) {
      CO_TRY(co_await pause_for(50ms));
      Updater next{doors(*bmc, controller)};
      ended = co_await next.resume(*controller.kept, until);
    }
    co_await bmc->log_out();
    co_await asked->log_out();
    co_return ended;
  }

  /// Of what the BMC offers, fetching alone, by `fetches_by`, or by what it says itself where that
  /// is empty. `asked`: the same BMC.
  void only_fetch(bmc::Bmc& bmc, bmc::Bmc& asked) {
    bmc.update.service = [this, &asked](Deadline deadline) -> Task<Result<bmc::UpdateService>> {
      CO_TRY(auto reported, co_await asked.update.service(deadline));
      reported.ways = {"simple"};
      if (!fetches_by->empty()) reported.fetches_by = *fetches_by;
      co_return reported;
    };
  }

  UpdateEnd ended() {
    asio::io_context io;
    Controller controller{io};
    auto ended = run_to_end(io, bring_to_baseline(controller));
    EXPECT_TRUE(ended) << ended.error().what;
    return ended ? *std::move(ended) : UpdateEnd{How::failed, "an error"};
  }

  /// Updates that the BMC began, whatever became of them.
  std::size_t begun() {
    return server->on(
        [](auto&, rehearsal::BmcService& bmc) { return bmc.state().updates.all().size(); });
  }
  bool runs_the_new_one() {
    return server->on([](rehearsal::Machine& machine, rehearsal::BmcService& bmc) {
      const auto all =
          rehearsal::components_of(machine.hardware(), bmc.behavior().names.bmc_version);
      return std::ranges::any_of(
          all, [](const auto& one) { return one.name == kPart && one.version == kVersion; });
    });
  }

  test::ImageFile image{image_of()};
  bmc::UpdateOrder order{}, previous{};
  inventory::Profile profile{};
  std::unique_ptr<test::VirtualBmc> server{};
  int pushes = 0;
  bool held = false;
  std::optional<std::vector<std::string>> fetches_by{};  // nothing: it takes uploads
  decltype(UpdaterInterfaces::serve) serve{};
};

/// The fault, how it ends, and in whose words.
struct Case {
  const char* name;
  Fault fault;
  std::chrono::seconds takes{120};
  const char* says;
  int pushes = 1;
  std::size_t begun = 1;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class EachUpdateThatGoesWrong : public UpdateThatGoesWrong,
                                public testing::WithParamInterface<Case> {};
INSTANTIATE_TEST_SUITE_P(
    Fault, EachUpdateThatGoesWrong,
    ::testing::Values(
        // The image is sent again once the BMC was idle for as long as the write may take, once.
        Case{"BmcRestartsInTheUpload",
             {.kind = FaultKind::upload_restarts_bmc, .bytes = 900},
             2s,
             "the image was sent 2 times, and the BMC has none of it",
             2,
             0},
        Case{"SessionEndsInTheUpload",
             {.kind = FaultKind::session_dies, .bytes = 900},
             2s,
             "the session ended during the upload",
             2,
             0},
        Case{"BmcRestartsWhileItStages",
             {.kind = FaultKind::firmware_unverified},
             120s,
             "The management controller restarted while the update went on"},
        Case{"BmcRestartsWhileItApplies",
             {.kind = FaultKind::firmware_interrupted},
             120s,
             "The management controller restarted while the update went on"},
        Case{"NoSpaceLeft", {.kind = FaultKind::firmware_no_space}, 120s, "507", 1, 0}),
    [](const auto& info) { return std::string{info.param.name}; });

TEST_P(EachUpdateThatGoesWrong, FailsWithItsCauseAndLeavesTheOldVersion) {
  profile.firmware[0].takes = GetParam().takes;
  with({GetParam().fault});

  const auto end = ended();

  EXPECT_EQ(end.how, How::failed);
  EXPECT_THAT(end.detail, AllOf(HasSubstr("psu"), HasSubstr(GetParam().says)));
  EXPECT_EQ(pushes, GetParam().pushes);
  EXPECT_EQ(begun(), GetParam().begun);
  EXPECT_FALSE(runs_the_new_one());
  EXPECT_FALSE(held) << "nothing is at work any more";
}

TEST_F(UpdateThatGoesWrong, AnImageForAnotherModelIsRefusedByTheBmc) {
  const test::ImageFile other{image_of("Toaster 3000")};
  order = other.order("psu");
  with({});

  const auto end = ended();

  EXPECT_EQ(end.how, How::failed);
  EXPECT_THAT(end.detail, HasSubstr("psu 9.9: the BMC: "));
  EXPECT_FALSE(runs_the_new_one());
}

TEST_F(UpdateThatGoesWrong, AnImageThatIsCutOrChangedAfterItWasCheckedNeverArrivesWhole) {
  with({});
  const auto good = image_of();
  for (const auto& bytes : {good.substr(0, good.size() / 2), std::string(good.size(), 'x')}) {
    std::ofstream{image.path(), std::ios::binary} << bytes;

    const auto end = ended();

    EXPECT_EQ(end.how, How::failed);
    EXPECT_THAT(end.detail, HasSubstr(image.path().string()));
    EXPECT_EQ(begun(), 0u);
  }
}

TEST_F(UpdateThatGoesWrong, SomebodyElsesUpdateIsWaitedFor) {
  with({{.kind = FaultKind::firmware_busy}});

  const auto end = ended();

  EXPECT_EQ(end.how, How::busy);
  EXPECT_THAT(end.detail,
              HasSubstr("another update is at work on it, or waits for a restart: /redfish"));
  EXPECT_EQ(begun(), 0u);
  EXPECT_FALSE(held);
}

TEST_F(UpdateThatGoesWrong, OfTwoControllersAtOnceOneWritesAndTheOtherWaits) {
  with({});
  asio::io_context io;
  Controller first{io}, second{io};
  const auto one = [this](Controller* controller) { return bring_to_baseline(*controller); };

  const auto both =
      run_to_end(io, for_each_of<UpdateEnd>(std::vector<Controller*>{&first, &second}, 2, one));
  const auto later = ended();

  for (const auto& each : both) {
    ASSERT_TRUE(each) << each.error().what;
    EXPECT_THAT(each->how, AnyOf(How::at_baseline, How::busy)) << each->detail;
  }
  EXPECT_TRUE(both[0]->how == How::at_baseline || both[1]->how == How::at_baseline);
  EXPECT_EQ(later.how, How::at_baseline) << later.detail;
  EXPECT_EQ(begun(), 1u);
}

/// The other one has a store of its own, and writes all of it between this one's plan and its push.
TEST_F(UpdateThatGoesWrong, WhatAnotherControllerHasWrittenSinceThePlanIsNotWrittenAgain) {
  with({});
  asio::io_context io;
  Controller first{io}, second{io};
  const auto bmc = second.open(*server);
  auto mine = doors(*bmc, second);
  mine.image = [this, &first](FirmwareUpdate, bmc::Identity,
                              Deadline) -> Task<Result<bmc::UpdateOrder>> {
    CO_TRY(const auto other, co_await bring_to_baseline(first));
    EXPECT_EQ(other.how, How::at_baseline) << other.detail;
    co_return order;
  };
  Updater updater{std::move(mine)};

  const auto ended = run_to_end(io, updater.run(Deadline::in(120s)));
  const auto runs_it = runs_the_new_one();

  ASSERT_TRUE(ended) << ended.error().what;
  EXPECT_EQ(ended->how, How::busy);
  EXPECT_THAT(ended->detail, HasSubstr("another controller or tool has written it"));
  EXPECT_TRUE(runs_it);
  EXPECT_EQ(begun(), 1u);
  EXPECT_FALSE(held);
}

/// One of the supplies keeps its version, so that two run side by side.
TEST_F(UpdateThatGoesWrong, APreviousImageMakesAllPartsRunOneVersionAgainAndTheNodeFails) {
  with({{.kind = FaultKind::firmware_part_fails, .component = "PSU_1"}});
  const auto before = versions_of_supplies();
  ASSERT_EQ(before.size(), 1u);
  const test::ImageFile now{supplies("99.9")}, then{supplies(*before.begin())};
  order = now.order("psu");
  previous = then.order("psu");
  previous.force = true;
  profile.firmware[0].version = "99.9";
  profile.firmware[0].ids = {"PSU_*"};
  profile.firmware[0].recovery = {inventory::FirmwareRecovery::previous_image};

  const auto end = ended();

  EXPECT_EQ(end.how, How::failed);
  EXPECT_THAT(end.detail,
              AllOf(HasSubstr("PSU_1"), HasSubstr("; recovered to the old version: psu runs " +
                                                  *before.begin() + " again")));
  EXPECT_EQ(pushes, 2);
  EXPECT_EQ(begun(), 2u);
  EXPECT_EQ(versions_of_supplies(), before);
  EXPECT_FALSE(held);
}

class UpdateBesideSettings : public UpdateThatGoesWrong {
 protected:
  Task<Result<settings::SettingsPlan>> look(Controller& controller, bool set) {
    const auto bmc = controller.open(*server);
    const auto until = Deadline::in(60s);
    auto seen = co_await settings::read_settings(*bmc, profile, until);
    if (seen && set) {
      const auto plan = settings::plan_settings(profile, *seen);
      const auto applied = co_await settings::apply_settings(*bmc, plan, until);
      seen = co_await settings::read_settings(*bmc, profile, until);
      if (!applied) seen = applied.error();
    }
    co_await bmc->log_out();
    if (!seen) co_return std::move(seen).error();
    co_return settings::plan_settings(profile, *seen);
  }
  settings::SettingsPlan settings_now(bool set = false) {
    asio::io_context io;
    Controller controller{io};
    auto plan = run_to_end(io, look(controller, set));
    EXPECT_TRUE(plan) << plan.error().what;
    return plan ? *std::move(plan) : settings::SettingsPlan{};
  }
  int boots() {
    return server->on([](rehearsal::Machine& machine, auto&) { return machine.boots(); });
  }
};

/// One restart for both.
TEST_F(UpdateBesideSettings, StagedSettingsAreAppliedByTheRestartOfTheFirmware) {
  profile.firmware[0].follow = {inventory::FirmwareReset::host_restart};
  profile.bios = {{.attribute = "BootMode", .value = "Bios"}};
  profile.settings.boot_order = {"disk", "pxe"};
  with({});
  const auto boots_before = boots();
  const auto staged = settings_now(true);

  const auto end = ended();
  ASSERT_TRUE(server->wait_until([](rehearsal::Machine& machine) { return machine.up(); }));

  EXPECT_TRUE(staged.has(settings::SettingState::waits_for_boot));
  EXPECT_EQ(end.how, How::at_baseline) << end.detail;
  EXPECT_EQ(boots(), boots_before + 1);
  const auto after = settings_now();
  EXPECT_FALSE(after.items.empty());
  EXPECT_TRUE(after.is_as_expected())
      << settings::described(after, settings::SettingState::waits_for_boot)
      << settings::described(after, settings::SettingState::differs);
}

/// A BMC that takes no upload fetches the image from a server whose disk loses it.
TEST_F(UpdateThatGoesWrong, AnImageThatIsGoneFromTheServersDiskIsAFailureWithItsCause) {
  const test::ImageFile served{image_of({}, 4u << 20)};
  with({}, "dell");
  profile.firmware[0].ids = {"*__PSU.Slot.2"};
  asio::io_context io;
  auto server_of_images = images::ImageServer::start(
      io.get_executor(), {.endpoint = {asio::ip::address_v4::loopback(), 0}});
  ASSERT_TRUE(server_of_images) << server_of_images.error().what;
  const auto uri = (*server_of_images)->grant({.file = served.path().string(), .name = "psu.bin"});
  ASSERT_TRUE(uri) << uri.error().what;
  order = {.name = "psu.bin", .component = "psu", .pull_uri = *uri};
  std::filesystem::resize_file(served.path(), 1u << 20);

  const auto end = ended();

  EXPECT_EQ(end.how, How::failed);
  EXPECT_THAT(end.detail, HasSubstr("psu 9.9: the BMC: "));
  EXPECT_FALSE(runs_the_new_one());
  EXPECT_FALSE(held);
}

/// From the site's certificate to the version that runs: a BMC that offers HTTPS gets no other URL.
TEST_F(UpdateThatGoesWrong, ABmcThatFetchesIsGivenHttpsUnlessItHasNone) {
  const test::TemporaryFolder folder;
  const auto certificate = test::make_certificate();
  inventory::ImageTrust trust;
  trust.serve = inventory::Endpoint{"127.0.0.1", 0};
  trust.certificate = folder.path() / "site.pem";
  trust.certificate_key = folder.path() / "site.key";
  ASSERT_TRUE(write_file(trust.certificate, certificate.certificate_pem, 0600));
  ASSERT_TRUE(write_file(trust.certificate_key, certificate.key_pem, 0600));
  profile.firmware[0].ids = {"*__PSU.Slot.2"};
  asio::io_context io;
  controller::FirmwareImages images{io.get_executor(), trust, folder.path() / "state"};
  std::vector<std::string> urls;
  serve = [&](bmc::UpdateOrder, std::vector<std::string> words,
              Deadline deadline) -> Task<Result<std::string>> {
    auto url = co_await images.serve(image.order("psu"), std::move(words), deadline);
    urls.push_back(url ? url->substr(0, url->find("127")) : url.error().what);
    co_return url;
  };
  using Words = std::vector<std::string>;
  const auto end_with = [&](const Words& words) {
    with({}, "dell");
    order = {.name = "psu.bin", .component = "psu"};
    fetches_by = words;
    return ended();
  };

  const auto https = end_with({});
  const bool https_runs = runs_the_new_one();
  const auto http = end_with({"HTTP", "FTP"});
  const bool http_runs = runs_the_new_one();
  const auto neither = end_with({"NFS", "TFTP"});

  EXPECT_EQ(https.how, How::at_baseline) << https.detail;
  EXPECT_EQ(http.how, How::at_baseline) << http.detail;
  EXPECT_TRUE(https_runs && http_runs);
  EXPECT_EQ(neither.how, How::failed);
  EXPECT_THAT(neither.detail, HasSubstr("this BMC fetches images by NFS, TFTP"));
  EXPECT_THAT(urls, ElementsAre("https://", "http://", HasSubstr("NFS, TFTP")));
}

}  // namespace
}  // namespace cupel::firmware
