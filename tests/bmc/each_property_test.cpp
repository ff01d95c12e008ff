// Each property of each resource of the wrong type, null or huge, one at a time: whatever reads it
// ends with an answer, or with an error that says something, and asks the BMC for nothing else.
#include "tests/bmc/acting.h"

namespace cupel::bmc {
namespace {

std::string in(const char* name) { return "/redfish/v1/Managers/1/" + std::string{name}; }

/// Puts each of these in place of each value below `value`, one at a time.
using Visit = std::function<void(const std::string& place)>;
void damage_each(json::value& value, const std::string& place, const Visit& visit) {
  static const json::array kNasty{nullptr, -1.5e308, json::array{json::array{json::array{"x"}}},
                                  std::string(3000, 'x') + "\x1b[2J", "/redfish/v1/../x"};
  const auto damage = [&](json::value& child, const std::string& at) {
    const json::value whole = child;
    for (const auto& nasty : kNasty) {
      child = nasty;
      visit(at);
    }
    child = whole;
    damage_each(child, at, visit);
  };
  if (auto* object = value.if_object())
    for (auto& entry : *object) damage(entry.value(), place + " " + std::string{entry.key()});
  if (auto* list = value.if_array())
    for (auto& one : *list) damage(one, place + " []");
}

class EachProperty : public Acting {
 protected:
  void SetUp() override {
    Acting::SetUp();
    for (const auto& [uri, body] : whole()) server.set(uri, body);
  }

  static std::map<std::string, json::value> whole() {
    auto root = test::small_machine("/redfish/v1");
    for (const auto* service : {"AccountService", "UpdateService", "EventService", "Registries",
                                "SessionService", "TaskService"})
      root.as_object()[service] = link("/redfish/v1/" + std::string{service});
    auto system = test_system();
    auto& own = system.as_object();
    for (const auto* name : {"Bios", "SecureBoot", "LogServices", "EthernetInterfaces"})
      own[name] = link(in(name));
    own["LocationIndicatorActive"] = false;
    own["Boot"].as_object()["BootOrder"] = json::array{"Boot0001"};
    own["Boot"].as_object()["BootOptions"] = link(in("BootOptions"));
    auto manager = test::small_machine(kManager);
    for (const auto* name : {"VirtualMedia", "NetworkProtocol"})
      manager.as_object()[name] = link(in(name));
    manager.as_object()["DateTime"] = "2024-08-08T18:48:10Z";
    manager.as_object()["DateTimeLocalOffset"] = "+00:00";
    const std::string accounts = "/redfish/v1/AccountService",
                      updates = "/redfish/v1/UpdateService";
    const std::string tasks = "/redfish/v1/TaskService/Tasks", events = "/redfish/v1/EventService";
    const json::value enabled{{"ProtocolEnabled", true}, {"Port", 22}};
    const json::value action{{"target", updates + "/Simple"},
                             {"TransferProtocol@Redfish.AllowableValues", {"HTTPS"}}};
    return {
        {"/redfish/v1", root},
        {kSystem, system},
        {kManager, manager},
        {in("Bios"),
         {{"Attributes", {{"Boot", "Bios"}, {"Threads", 2}}},
          {"AttributeRegistry", "R1"},
          {"@Redfish.Settings", {{"SettingsObject", link(in("Pending"))}}}}},
        {in("Pending"), {{"Attributes", {{"Boot", "Uefi"}}}}},
        {in("SecureBoot"),
         {{"SecureBootEnable", true},
          {"SecureBootMode", "UserMode"},
          {"SecureBootCurrentBoot", "Enabled"}}},
        {in("BootOptions"), collection({in("BootOptions/1")})},
        {in("BootOptions/1"),
         {{"BootOptionReference", "Boot0001"}, {"DisplayName", "disk"}, {"UefiDevicePath", "HD"}}},
        {in("LogServices"), collection({in("SEL")})},
        {in("SEL"), {{"Id", "SEL"}, {"LogEntryType", "SEL"}, {"Entries", link(in("Entries"))}}},
        {in("Entries"),
         {{"Members@odata.count", 1},
          {"Members",
           {{{"Id", "1"},
             {"Created", "2024-08-08T18:48:10Z"},
             {"Severity", "OK"},
             {"Message", "power on"},
             {"MessageId", "Event.1.0.On"}}}}}},
        {in("VirtualMedia"), collection({in("CD")})},
        {in("CD"),
         {{"Id", "CD"},
          {"MediaTypes", {"CD"}},
          {"Image", "https://10.0.0.1/a.iso"},
          {"Inserted", true},
          {"ConnectedVia", "URI"}}},
        {in("NetworkProtocol"),
         {{"SSH", enabled}, {"NTP", {{"ProtocolEnabled", true}, {"NTPServers", {"10.0.0.1"}}}}}},
        {accounts, {{"Accounts", link(accounts + "/Accounts")}}},
        {accounts + "/Accounts", collection({accounts + "/Accounts/1"})},
        {accounts + "/Accounts/1",
         {{"Id", "1"}, {"UserName", "audit"}, {"Enabled", true}, {"RoleId", "Administrator"}}},
        {updates,
         {{"ServiceEnabled", true},
          {"MaxImageSizeBytes", 1000},
          {"MultipartHttpPushUri", updates + "/upload"},
          {"HttpPushUriTargetsBusy", false},
          {"FirmwareInventory", link(updates + "/FirmwareInventory")},
          {"Actions", {{"#UpdateService.SimpleUpdate", action}}}}},
        {updates + "/FirmwareInventory", collection({updates + "/FirmwareInventory/BMC"})},
        {updates + "/FirmwareInventory/BMC",
         {{"Id", "BMC"}, {"Name", "BMC"}, {"Version", "1.2"}, {"Updateable", true}}},
        {tasks, collection({tasks + "/1"})},
        {tasks + "/1",
         {{"Id", "1"},
          {"Name", "Firmware Update"},
          {"TaskState", "Running"},
          {"PercentComplete", 10},
          {"Messages", {{{"MessageId", "Update.1.0.X"}, {"Message", "m"}, {"MessageArgs", {"a"}}}}},
          {"Payload", {{"TargetUri", updates}}}}},
        {events, {{"Subscriptions", link(events + "/Subscriptions")}}},
        {events + "/Subscriptions", collection({events + "/Subscriptions/1"})},
        {events + "/Subscriptions/1",
         {{"Destination", "https://10.0.0.9/"}, {"Protocol", "Redfish"}, {"Context", "c"}}},
        {"/redfish/v1/SessionService", {{"SessionTimeout", 600}}},
        {"/redfish/v1/Registries", collection({"/redfish/v1/Registries/R1"})},
        {"/redfish/v1/Registries/R1",
         {{"Id", "R1"},
          {"Registry", "R1"},
          {"Location", {{{"Language", "en"}, {"Uri", "/redfish/v1/Registries/R1.json"}}}}}},
        {"/redfish/v1/Registries/R1.json",
         {{"RegistryEntries",
           {{"Attributes",
             {{{"AttributeName", "Threads"},
               {"Type", "Integer"},
               {"LowerBound", 1},
               {"UpperBound", 4},
               {"ReadOnly", false}},
              {{"AttributeName", "Boot"},
               {"Type", "Enumeration"},
               {"Value", {{{"ValueName", "Uefi"}}, {{"ValueName", "Bios"}}}}}}}}}}}};
  }

  /// Whatever reads a resource below `uri`, which is not the machine's root.
  void read_what_reads(Bmc& bmc, const std::string& uri, const std::string& place) {
    const auto is_below = [&](const std::string& prefix) { return uri.starts_with(prefix); };
    const bool all = uri == kSystem || uri == kManager || uri == "/redfish/v1";
    const auto bios = all || is_below(in("Bios")) || is_below(in("Pending"));
    if (all) {
      ends(bmc.facts.identity(little()), place);
      ends(bmc.power.state(little()), place);
      ends(bmc.power.allowed_resets(little()), place);
      ends(bmc.power.has_ac_cycle(little()), place);
      ends(bmc.boot.read(little()), place);
      ends(bmc.locator.read(little()), place);
      ends(bmc.manager.clock(little()), place);
      ends(bmc.console.ways(little()), place);
    }
    if (bios) ends(bmc.bios.read(little()), place);
    if (all || is_below(in("BootOptions"))) ends(bmc.settings.boot_order(little()), place);
    if (all || is_below(in("SecureBoot"))) ends(bmc.settings.secure_boot(little()), place);
    if (is_below("/redfish/v1/Registries") || is_below(in("Bios")))
      ends(bmc.settings.bios_registry(little()), place);
    if (is_below(in("LogServices")) || is_below(in("SEL")) || is_below(in("Entries")))
      ends(bmc.log.read(std::nullopt, 10, little()), place);
    if (is_below(in("VirtualMedia")) || is_below(in("CD"))) ends(bmc.media.slots(little()), place);
    if (is_below(in("NetworkProtocol"))) {
      ends(bmc.manager.services(little()), place);
      ends(bmc.settings.ntp(little()), place);
      ends(bmc.settings.event_targets(little()), place);
    }
    if (is_below("/redfish/v1/AccountService")) ends(bmc.accounts.read(little()), place);
    if (is_below("/redfish/v1/EventService")) ends(bmc.settings.event_targets(little()), place);
    if (is_below("/redfish/v1/SessionService")) ends(bmc.settings.session_timeout(little()), place);
    if (is_below("/redfish/v1/UpdateService/FirmwareInventory"))
      ends(bmc.update.versions(little()), place);
    if (is_below("/redfish/v1/UpdateService") || is_below("/redfish/v1/TaskService")) {
      ends(bmc.update.service(little()), place);
      ends(bmc.update.progress({"multipart", "/redfish/v1/TaskService/Tasks/1"}, little()), place);
    }
  }

  void wrong_types(int every);

  template <class T>
  void ends(Task<Result<T>> task, const std::string& place) {
    const auto done = run(std::move(task));
    ++reads;
    if (done) return;
    ++refused;
    EXPECT_NE(done.error().code, Code::kTimeout) << place;
    EXPECT_FALSE(done.error().what.empty()) << place;
    EXPECT_FALSE(done.error().what.contains('\x1b')) << place;
  }
  static Deadline little() { return Deadline::in(20s); }

  int reads = 0, refused = 0;
};

TEST_F(EachProperty, IsReadWholeByAll) {
  for (const auto& [uri, body] : whole()) {
    const auto bmc = open();
    read_what_reads(*bmc, uri, uri);
    run(bmc->log_out());
  }
  EXPECT_GT(reads, 40);
  EXPECT_LT(refused, reads / 3) << "what this machine does not have";
}

class LongEachProperty : public EachProperty {};

TEST_F(EachProperty, OfTheWrongTypeEndsInAnAnswerOrAnError) { wrong_types(9); }
TEST_F(LongEachProperty, OfTheWrongTypeEndsInAnAnswerOrAnError) { wrong_types(1); }

/// Each damage, or every so many: 9 and the kinds of damage have no common divisor.
void EachProperty::wrong_types(int every) {
  auto resources = whole();
  int damages = 0;
  for (auto& resource : resources) {
    const auto& uri = resource.first;
    damage_each(resource.second, uri, [&](const std::string& place) {
      if (damages++ % every != 0) return;
      server.set(uri, resource.second);
      const auto bmc = open();
      read_what_reads(*bmc, uri, place);
      run(bmc->log_out());
    });
    server.set(uri, resource.second);
  }

  EXPECT_GT(reads, 1'500 / every);
  EXPECT_GT(refused, 0);
  const auto asked = server.asked();
  EXPECT_EQ(asked.open_sessions, 0);
  for (const auto& line : asked.lines) {
    ASSERT_THAT(line, HasSubstr(" /redfish/v1"));
    ASSERT_THAT(line, Not(HasSubstr("..")));
  }
}

}  // namespace
}  // namespace cupel::bmc
