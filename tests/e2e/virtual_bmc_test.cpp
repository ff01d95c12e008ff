// `cupel bmc` against virtual BMCs that speak both protocols.
#include <fmt/format.h>

#include "base/digest.h"
#include "base/file.h"
#include "orchestrator/cli/diagnostic_files.h"
#include "tests/e2e/rack_site.h"
#include "tests/support/captures.h"

namespace cupel::testing {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::SizeIs;

const json::value& at(const json::object& object, const char* key) {
  static const json::value none;
  const auto* found = object.if_contains(key);
  return found == nullptr ? none : *found;
}

std::string text_of(const json::object& object, const char* key) {
  const auto& value = at(object, key);
  return value.is_string() ? std::string{value.get_string()} : json::serialize(value);
}

std::vector<std::string> column(const std::vector<json::object>& answers, const char* key) {
  std::vector<std::string> all;
  for (const auto& answer : answers) all.push_back(text_of(answer, key));
  return all;
}

/// Every verb that both protocols have, by each of them.
class ByEither : public ::testing::TestWithParam<const char*> {
 protected:
  ByEither() {
    if (is_ipmi()) site.change_inventory("protocol: redfish", "protocol: ipmi");
  }
  static bool is_ipmi() { return GetParam() == std::string_view{"ipmi"}; }

  RackSite site{{.nodes = 2, .network = 71}};
};

TEST_P(ByEither, TurnsARangeOnAndOffAndSaysByWhat) {
  const auto on = site.ask({"bmc", "v01-n[01-02]", "power", "on"});
  const auto grouped = site.run({"bmc", "all", "power", "status", "--group"});
  const auto cycled = site.ask({"bmc", "all", "power", "cycle", "--force"});
  const auto off = site.ask({"bmc", "all", "power", "off", "--force"});

  ASSERT_THAT(on, SizeIs(2));
  EXPECT_THAT(column(on, "power"), Each("on"));
  EXPECT_THAT(column(on, "by"), Each(GetParam()));
  EXPECT_EQ(grouped.out, "---------------\nv01-n[01-02] (2)\n---------------\non\n") << grouped.err;
  EXPECT_THAT(column(cycled, "power"), Each("on"));
  EXPECT_THAT(column(off, "power"), Each("off"));
  EXPECT_THAT(column(off, "by"), Each(GetParam()));
}

TEST_P(ByEither, ReadsWhatThereIsAndSaysByWhat) {
  for (const auto* verb :
       {"sensors", "log", "accounts", "identity", "firmware", "inventory", "clock", "boot"}) {
    const auto reported = site.ask({"bmc", "all", verb});
    EXPECT_THAT(reported, SizeIs(2)) << verb;
    EXPECT_THAT(column(reported, "by"), Each(GetParam())) << verb;
  }
}

TEST_P(ByEither, ClearsTheLogSetsTheClockAndTheNextBoot) {
  const auto cleared = site.ask({"bmc", "v01-n01", "log", "clear"});
  const auto clock = site.ask({"bmc", "v01-n01", "clock", "set"});
  const auto boot = site.ask({"bmc", "v01-n01", "boot", "pxe"});
  const auto read = site.ask({"bmc", "v01-n01", "boot"});

  for (const auto* each : {&cleared, &clock, &boot, &read})
    EXPECT_THAT(column(*each, "by"), Each(GetParam()));
  EXPECT_THAT(column(read, "boot"), Each("pxe"));
}

TEST_P(ByEither, AnIdentityMismatchStopsAChangeButNotAReading) {
  site.change_inventory("serial: \"", "serial: \"S9");

  const auto read = site.run({"bmc", "v01-n01", "power"});
  const auto on = site.run({"bmc", "v01-n01", "power", "on"});

  EXPECT_EQ(read.status, 0) << read.err;
  EXPECT_EQ(on.status, 1);
  EXPECT_THAT(on.err, AllOf(HasSubstr("identity mismatch"), HasSubstr("serial S9")));
  EXPECT_EQ(site.run({"bmc", "v01-n01", "power"}).out, "v01-n01: off\n");
}

INSTANTIATE_TEST_SUITE_P(All, ByEither, ::testing::Values("redfish", "ipmi"),
                         [](const auto& one) { return std::string{one.param}; });

class VirtualBmcs : public ::testing::Test {
 protected:
  RackSite site{{.nodes = 2, .network = 72}};
};

TEST_F(VirtualBmcs, KnowBothProtocolsForTheSameMachine) {
  ASSERT_EQ(site.run({"bmc", "v01-n01", "power", "on"}).status, 0);
  const auto by_redfish = site.ask({"bmc", "v01-n01", "identity"});
  site.change_inventory("protocol: redfish", "protocol: ipmi");

  const auto by_ipmi = site.ask({"bmc", "v01-n01", "identity"});
  const auto off = site.run({"bmc", "v01-n01", "power", "off", "--force"});

  ASSERT_THAT(by_ipmi, SizeIs(1));
  EXPECT_EQ(text_of(by_ipmi[0], "serial"), text_of(by_redfish[0], "serial"));
  EXPECT_EQ(off.status, 0) << "what Redfish told must fit what IPMI tells: " << off.err;
}

TEST_F(VirtualBmcs, BootFromAnUrlByHttpAndFromADisc) {
  const auto http = site.run({"bmc", "v01-n01", "boot", "http", "http://10.0.0.1/x.efi"});
  const auto reported = site.run({"bmc", "v01-n01", "boot"});

  EXPECT_EQ(http.status, 0) << http.err;
  EXPECT_THAT(reported.out, HasSubstr("next boot from http http://10.0.0.1/x.efi"));
}

TEST_F(VirtualBmcs, RestartByIpmiWhereRedfishWouldCutTheDpusPower) {
  ASSERT_EQ(site.run({"bmc", "v01-n01", "power", "on"}).status, 0);

  const auto pressed = site.ask({"bmc", "v01-n01", "power", "reset"});

  EXPECT_THAT(column(pressed, "by"), Each("ipmi"));
}

TEST_F(VirtualBmcs, RestartByRedfishWhereThatAloneIsAllowed) {
  const auto port = site.rack().ipmi_port("v01-n01");
  site.change_inventory(fmt::format(", ipmi: {{port: {}}}", port), "");
  ASSERT_EQ(site.run({"bmc", "v01-n01", "power", "on"}).status, 0);

  const auto pressed = site.ask({"bmc", "v01-n01", "power", "reset"});

  EXPECT_THAT(column(pressed, "by"), Each("redfish"));
}

TEST(VirtualBmcsOfOthers, TakeADiscAndGiveItBack) {
  RackSite site{{.nodes = 2, .bmcs = "vendor: openbmc", .network = 73}};
  const std::string url = "http://10.0.0.1/x.iso";

  const auto inserted = site.ask({"bmc", "all", "media", "insert", url});
  const auto listed = site.run({"bmc", "v01-n01", "media"});
  const auto ejected = site.ask({"bmc", "all", "media", "eject"});
  const auto booted = site.ask({"bmc", "v01-n01", "boot", "cd", url});

  EXPECT_THAT(column(inserted, "inserted"), Each(url));
  EXPECT_THAT(column(inserted, "by"), Each("redfish"));
  EXPECT_THAT(listed.out, HasSubstr(url)) << listed.err;
  EXPECT_THAT(column(ejected, "inserted"), Each("null"));
  EXPECT_THAT(column(booted, "boot"), Each("cd"));
}

TEST_F(VirtualBmcs, StageABiosSettingThatTheNextBootMakesTrue) {
  const std::vector<std::string> get{"bmc", "v01-n01", "bios", "get", "LogicalProc"};

  const auto staged = site.ask({"bmc", "v01-n01", "bios", "set", "LogicalProc=Disabled"});
  const auto before = site.ask(get);
  ASSERT_EQ(site.run({"bmc", "v01-n01", "power", "on"}).status, 0);
  // Power is on long before the boot that takes the setting has ended.
  auto after = site.ask(get);
  for (int i = 0; i < 100 && column(after, "current") == column(before, "current"); ++i)
    after = site.ask(get);

  EXPECT_THAT(column(staged, "staged"), Each("true"));
  EXPECT_THAT(column(before, "current"), Each(R"({"LogicalProc":"Enabled"})"));
  EXPECT_THAT(column(before, "pending"), Each(R"({"LogicalProc":"Disabled"})"));
  EXPECT_THAT(column(after, "current"), Each(R"({"LogicalProc":"Disabled"})"));
}

TEST_F(VirtualBmcs, ListServicesAndTheBudget) {
  const auto services = site.ask({"bmc", "all", "services"});
  const auto budget = site.ask({"bmc", "all", "budget"});

  EXPECT_THAT(column(services, "by"), Each("redfish"));
  EXPECT_THAT(column(budget, "health"), Each("100"));
}

TEST(SilentVirtualBmcs, EndWithTheirPatienceWhileTheOthersAnswer) {
  RackSite site{{.nodes = 3, .network = 78, .faults = "{node: v01-n02, fault: ipmi-silent}"}};
  site.change_inventory("protocol: redfish", "protocol: ipmi");

  const auto reported = site.run({"bmc", "all", "power", "--patience", "2s"});

  EXPECT_EQ(reported.status, 1);
  EXPECT_EQ(reported.out, "v01-n01: off\nv01-n03: off\n");
  EXPECT_THAT(reported.err, HasSubstr("v01-n02"));
}

TEST(DiagnosticsOfVirtualBmcs, AreListedCollectedAndKeptForTheirOwnerAlone) {
  namespace fs = std::filesystem;
  RackSite site{{.nodes = 2, .network = 92}};

  const auto listed = site.run({"bmc", "v01-n01", "diagnostics", "--list"});
  const auto fetched = site.ask({"bmc", "all", "diagnostics", "-o", site.file("dumps")});
  const auto wrong = site.run({"bmc", "v01-n01", "diagnostics", "--type", "OEM:Everything"});

  EXPECT_THAT(listed.out, HasSubstr("Managers/HGX_BMC_0/LogServices/Dump: types not reported"))
      << listed.err;
  ASSERT_THAT(fetched, SizeIs(2));
  for (const auto& answer : fetched) {
    ASSERT_TRUE(at(answer, "files").is_array()) << json::serialize(answer);
    const auto& file = at(answer, "files").get_array().at(0).as_object();
    const auto bytes = read_file(text_of(file, "file"), 1u << 20);
    ASSERT_TRUE(bytes) << bytes.error().what;
    EXPECT_EQ(text_of(file, "sha256"), sha256_hex(*bytes));
    EXPECT_EQ(text_of(file, "bytes"), std::to_string(bytes->size()));
    EXPECT_EQ(fs::status(text_of(file, "file")).permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
  }
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.err, HasSubstr("Everything"));
}

TEST(DiagnosticsOfVirtualBmcs, AreRefusedByNameWhereTheBmcHasNone) {
  RackSite site{{.nodes = 1, .bmcs = "vendor: hpe", .network = 94}};

  const auto none = site.run({"bmc", "v01-n01", "diagnostics", "-o", site.file("dumps")});

  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr("offers no LogService.CollectDiagnosticData"));
  EXPECT_FALSE(std::filesystem::exists(site.file("dumps")));
}

TEST(DiagnosticsOfVirtualBmcs, ThatBreakOffLeaveNoFileBehind) {
  RackSite site{{.nodes = 1,
                 .network = 95,
                 .rules = "{nodes: v01-n01, path: '*/attachment', do: truncate, bytes: 100}"}};

  const auto cut = site.run({"bmc", "v01-n01", "diagnostics", "-o", site.file("dumps")});

  EXPECT_EQ(cut.status, 1) << cut.out;
  EXPECT_THAT(cut.err, HasSubstr("/attachment"));
  EXPECT_TRUE(std::filesystem::is_empty(site.file("dumps")));
}

/// A BMC with one log service, which makes more files than are fetched. Their names differ behind
/// what a file's name has room for.
class ManyFiles final : public bmc::Bmc {
 public:
  static constexpr std::size_t kFiles = cli::kMostDiagnosticFiles + 8;

  ManyFiles() {
    diagnostics.offered = [](Deadline) -> Task<Result<bmc::DiagnosticOffers>> {
      co_return bmc::DiagnosticOffers{
          .services = {
              {.service = "/redfish/v1/Managers/1/LogServices/Dump", .types = {"Manager"}}}};
    };
    diagnostics.collect = [](bmc::DiagnosticOrder order,
                             Deadline) -> Task<Result<std::vector<bmc::DiagnosticData>>> {
      std::vector<bmc::DiagnosticData> files;
      for (std::size_t i = 0; i < kFiles; ++i) {
        const auto entry = order.service + "/Entries/" + std::string(300, 'x') + std::to_string(i);
        files.push_back({.entry = entry, .uri = entry + "/attachment"});
      }
      co_return files;
    };
    diagnostics.download = [](bmc::DiagnosticData file, bmc::DiagnosticSink sink, std::uint64_t,
                              Deadline) -> Task<Result<std::uint64_t>> {
      CO_TRY(sink(file.uri));
      co_return file.uri.size();
    };
  }
  Task<void> log_out() override { co_return; }
};

Result<cli::Collected> collected_in(const std::filesystem::path& folder) {
  const ManyFiles bmc;
  cli::FilesInFolder into{folder.string()};
  asio::io_context io;
  return run_to_end(io, cli::collect_diagnostics(bmc, "a01-n01", "Manager", 1u << 20, into,
                                                 Deadline::in(std::chrono::minutes{1})));
}

TEST(CollectedFiles, OfOneNameAreAllKeptAndThoseOverTheLimitAreCounted) {
  const test::TemporaryFolder folder;

  const auto collected = collected_in(folder.path() / "dumps");

  ASSERT_TRUE(collected) << collected.error().what;
  ASSERT_EQ(collected->files.size(), cli::kMostDiagnosticFiles);
  for (const auto& file : collected->files) {
    const auto bytes = read_file(folder.path() / "dumps" / file.name, 1u << 20);
    ASSERT_TRUE(bytes) << bytes.error().what;
    EXPECT_EQ(*bytes, file.entry + "/attachment");
  }
  ASSERT_THAT(collected->failures, SizeIs(1));
  EXPECT_THAT(collected->failures.front(), HasSubstr("8 files are left on the BMC"));
}

TEST(CollectedFiles, AreNotPutWhereOtherUsersCanChangeThem) {
  const test::TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);

  const auto collected = collected_in(folder.path());

  ASSERT_FALSE(collected);
  EXPECT_THAT(collected.error().what, HasSubstr("can be changed by other users"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(CollectedFiles, ReplaceNoFile) {
  const test::TemporaryFolder folder;
  cli::FilesInFolder into{folder.path().string()};
  ASSERT_TRUE(write_file(folder.path() / "dump.bin", "of yesterday"));

  ASSERT_TRUE(into.begin("dump"));
  ASSERT_TRUE(into.add("of today"));

  EXPECT_FALSE(into.end("dump.bin"));
  EXPECT_EQ(*read_file(folder.path() / "dump.bin", 100), "of yesterday");
}

TEST(ScanOfVirtualBmcs, FindsThemByBothProtocolsAndTheInventoryReachesThem) {
  RackSite site{{.nodes = 3, .network = 74, .ports = "bmc: 8443, ipmi: 8623"}};

  const auto found =
      site.run({"bmc", "scan", "127.74.1.0/29", "--port", "8443", "--ipmi", "--ipmi-port", "8623"});

  EXPECT_EQ(found.status, 0) << found.err;
  EXPECT_THAT(found.out, AllOf(HasSubstr("# 3 BMCs"), HasSubstr("redfish ipmi"),
                               HasSubstr("127.74.1.3:8443"), HasSubstr("ipmi: {port: 8623}")));
  site.write("found.yaml", found.out);
  EXPECT_EQ(site.run({"inventory", "check", "found.yaml"}).status, 0);
}

TEST(ScanOfVirtualBmcs, FindsWhatSpeaksIpmiAloneAndItsVendor) {
  RackSite site{{.nodes = 1, .network = 75, .ports = "ipmi: 8623"}};

  const auto found = site.run(
      {"bmc", "scan", "127.75.1.0/30", "--port", "1", "--ipmi", "--ipmi-port", "8623", "--json"});

  const auto objects = json_lines(found.out);
  ASSERT_THAT(objects, SizeIs(1)) << found.err;
  EXPECT_EQ(text_of(objects[0], "address"), "127.75.1.1");
}

}  // namespace
}  // namespace cupel::testing
