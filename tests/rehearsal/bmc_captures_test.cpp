// Each vendor's virtual BMC beside what a real one of that vendor said: the same names, the same
// kinds of values, the same places, the same form of ETag. Where they differ, it is a row of
// captured_deviations.tsv, with its reason; a row that is no longer true is a failure too.
#include <fmt/format.h>

#include <set>

#include "tests/rehearsal/bmc_bench.h"
#include "tests/support/captures.h"

namespace cupel::rehearsal {
namespace {
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Pair {
  std::string_view vendor, capture;
};
constexpr std::array<Pair, 8> kPairs{{{"dgx", "nvidia_viking"},
                                      {"dell", "dell"},
                                      {"hpe", "hpe-dl380a-gen11-ilo6-2xh100nvl"},
                                      {"hpe-ilo5", "hpe"},
                                      {"lenovo", "lenovo"},
                                      {"supermicro", "supermicro"},
                                      {"ami", "Gigabyte"},
                                      {"openbmc", "nvidia_gb200"}}};

/// What a client of these BMCs reads, by the name that stands in the resource.
const std::set<std::string_view> kRead{"Accounts",
                                       "Actions",
                                       "AttributeRegistry",
                                       "Attributes",
                                       "Bios",
                                       "BiosVersion",
                                       "Boot",
                                       "BootProgress",
                                       "CapacityBytes",
                                       "CapacityMiB",
                                       "Chassis",
                                       "ChassisType",
                                       "CommandShell",
                                       "ConnectedVia",
                                       "Controllers",
                                       "Created",
                                       "DataSourceUri",
                                       "DateTime",
                                       "DateTimeLocalOffset",
                                       "DetectorState",
                                       "DeviceLocator",
                                       "DeviceType",
                                       "Drives",
                                       "Entries",
                                       "Ethernet",
                                       "EventService",
                                       "EventTimestamp",
                                       "Fans",
                                       "FirmwareInventory",
                                       "FirmwareVersion",
                                       "Id",
                                       "Image",
                                       "Inserted",
                                       "LineInputStatus",
                                       "LinkStatus",
                                       "Links",
                                       "Location",
                                       "LogEntryType",
                                       "LogServices",
                                       "MACAddress",
                                       "ManagerType",
                                       "Managers",
                                       "Manufacturer",
                                       "MediaType",
                                       "MediaTypes",
                                       "Members",
                                       "Memory",
                                       "MemoryDeviceType",
                                       "MemorySummary",
                                       "Message",
                                       "MessageId",
                                       "MessageSeverity",
                                       "Model",
                                       "Name",
                                       "NetworkProtocol",
                                       "OriginOfCondition",
                                       "PCIeInterface",
                                       "Parameters",
                                       "PartNumber",
                                       "PermanentMACAddress",
                                       "PhysicalContext",
                                       "PowerCapacityWatts",
                                       "PowerControl",
                                       "PowerState",
                                       "PowerSupplies",
                                       "ProcessorSummary",
                                       "ProcessorType",
                                       "Processors",
                                       "Protocol",
                                       "ProtocolFeaturesSupported",
                                       "Reading",
                                       "ReadingCelsius",
                                       "ReadingType",
                                       "ReadingUnits",
                                       "RegistryEntries",
                                       "Revision",
                                       "RoleId",
                                       "SKU",
                                       "Sensors",
                                       "SerialConsole",
                                       "SerialNumber",
                                       "ServerSentEventUri",
                                       "Severity",
                                       "Slots",
                                       "Socket",
                                       "SparePartNumber",
                                       "Status",
                                       "Systems",
                                       "Temperatures",
                                       "TotalCores",
                                       "TotalThreads",
                                       "UUID",
                                       "UpdateService",
                                       "UserName",
                                       "Vendor",
                                       "Version",
                                       "VirtualMedia",
                                       "WriteProtected"};

std::string_view kind_of(const json::value& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "list";
  if (value.is_string()) return "text";
  if (value.is_bool()) return "flag";
  return value.is_number() ? "number" : "null";
}

/// "#ComputerSystem.v1_17_0.ComputerSystem": "ComputerSystem".
std::string resource_kind(const json::value& resource) {
  const auto type = text_at(resource, "@odata.type").value_or("");
  return type.starts_with('#') ? type.substr(1, type.find('.') - 1) : std::string{};
}

/// What resources of one kind have, over all of them.
struct Shape {
  std::size_t resources = 0;
  std::map<std::string, std::set<std::string_view>> properties;  // kinds of value
  std::map<std::string, std::size_t> seen;                       // in so many
};
using Shapes = std::map<std::string, Shape>;

void add(Shapes& shapes, const json::value& resource) {
  const auto* whole = resource.if_object();
  const auto kind = resource_kind(resource);
  if (!whole || kind.empty()) return;
  auto& shape = shapes[kind];
  ++shape.resources;
  for (const auto& entry : *whole) {
    const std::string name{entry.key()};
    if (name.starts_with("@odata")) continue;
    shape.properties[name].insert(kind_of(entry.value()));
    ++shape.seen[name];
  }
}

Shapes captured_shapes(const std::filesystem::path& tree) {
  Shapes shapes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator{tree}) {
    if (entry.path().filename() != "index.json") continue;
    const auto text = read_file(entry.path().string(), 16u << 20);
    const auto body = text ? parse_json(*text) : Result<json::value>{Error{}};
    if (body) add(shapes, *body);
  }
  return shapes;
}

using Differences = std::set<std::string>;

/// "dgx extra Manager Manufacturer": we show what they do not; "missing": they show, more often
/// than not, what a client reads and we have not; "kind": it is another kind of value.
Differences differences(std::string_view vendor, const Shapes& ours, const Shapes& theirs) {
  Differences all;
  const auto differ = [&](std::string_view how, const std::string& kind, const std::string& name) {
    all.insert(fmt::format("{}\t{}\t{}\t{}", vendor, how, kind, name));
  };
  for (const auto& [kind, mine] : ours) {
    const auto real = theirs.find(kind);
    if (real == theirs.end()) {
      differ("uncaptured", kind, "");
      continue;
    }
    for (const auto& [name, kinds] : mine.properties) {
      const auto there = real->second.properties.find(name);
      if (there == real->second.properties.end()) {
        differ("extra", kind, name);
        continue;
      }
      const bool only_null = there->second.size() == 1 && there->second.contains("null");
      for (const auto each : kinds)
        if (each != "null" && !only_null && !there->second.contains(each))
          differ("kind", kind, name);
    }
    for (const auto& [name, count] : real->second.seen)
      if (count * 2 > real->second.resources && kRead.contains(name) &&
          !mine.properties.contains(name))
        differ("missing", kind, name);
  }
  return all;
}

Differences allowed(std::string_view vendor) {
  Differences rows;
  const auto text = read_file(SOURCE_DIR "/tests/rehearsal/captured_deviations.tsv", 1u << 20);
  EXPECT_TRUE(text);
  if (!text) return rows;
  for (const auto line : lines(*text)) {
    const auto cells = split(line, '\t');
    if (cells.size() != 5 || cells[0] != vendor) continue;
    EXPECT_FALSE(cells[4].empty()) << line;  // why
    rows.insert(fmt::format("{}\t{}\t{}\t{}", cells[0], cells[1], cells[2], cells[3]));
  }
  return rows;
}

std::vector<std::string> without(const Differences& some, const Differences& others) {
  std::vector<std::string> left;
  std::ranges::set_difference(some, others, std::back_inserter(left));
  return left;
}

std::string capture_of(std::string_view vendor) {
  return std::string{std::ranges::find(kPairs, vendor, &Pair::vendor)->capture};
}

class CaptureOf : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Vendor, CaptureOf, ::testing::ValuesIn(vendors()), test_name);

TEST_P(CaptureOf, HasTheShapesThatOursHas) {
  CUPEL_NEED_CAPTURE(tree, capture_of(GetParam()));
  BmcBench bmc{GetParam()};
  bmc.boot();
  Shapes ours;
  for (const auto& [path, whole] : resources(bmc.view())) add(ours, json::value(whole));

  const auto found = differences(GetParam(), ours, captured_shapes(tree));
  const auto known = allowed(GetParam());

  EXPECT_THAT(without(found, known), IsEmpty()) << "new differences";
  EXPECT_THAT(without(known, found), IsEmpty()) << "rows that are no longer true";
}

TEST_P(CaptureOf, HasThingsWhereOursHasThem) {
  CUPEL_NEED_CAPTURE(tree, capture_of(GetParam()));
  const BmcBench bmc{GetParam()};
  const auto view = bmc.view();
  const auto service =
      text_at(*parse_json(*test::captured_answer(tree, "/redfish/v1/UpdateService")), "@odata.id");

  // The captured MegaRAC is too old for boot settings of their own.
  const auto boot = GetParam() == "ami" ? view.system() : view.boot();
  for (const auto& uri :
       {view.system(), view.manager(), view.chassis(), boot, view.manager() + "/NetworkProtocol",
        std::string{"/redfish/v1/AccountService/Accounts"}})
    EXPECT_TRUE(test::captured_answer(tree, uri)) << uri;
  EXPECT_EQ(service, "/redfish/v1/UpdateService");
}

TEST(CaptureOfADgx, ListsLogDevicesDrivesAndSecureBootOfTheHostWhereOursDoes) {
  CUPEL_NEED_CAPTURE(tree, "nvidia_viking");
  BmcBench bmc{"dgx"};
  const auto system = bmc.view().system();

  const auto ours = parse_json(bmc.ask("GET", system).body);
  const auto theirs = parse_json(*test::captured_answer(tree, system));

  ASSERT_TRUE(ours && theirs);
  for (const auto* name : {"LogServices", "SimpleStorage", "SecureBoot"}) {
    const auto uri = text_at(*ours, std::string{name} + "/@odata.id").value_or("");
    EXPECT_EQ(uri, text_at(*theirs, std::string{name} + "/@odata.id")) << name;
    EXPECT_EQ(bmc.ask("GET", uri).status, 200) << uri;
  }
  EXPECT_EQ(text_at(*ours, "SKU"), text_at(*theirs, "SKU"));
  for (const auto& device : find(*ours, "PCIeDevices")->as_array())
    EXPECT_EQ(bmc.ask("GET", *text_at(device, "@odata.id")).status, 200);
  const auto log = system + "/LogServices/BIOS";
  EXPECT_TRUE(test::captured_answer(tree, log));
  EXPECT_EQ(bmc.ask("GET", log + "/Entries").status, 200);
}

TEST_P(CaptureOf, TakesImagesWhereOursDoes) {
  CUPEL_NEED_CAPTURE(tree, capture_of(GetParam()));
  // The captured MegaRAC is older than the machine that ours is like, which takes forms too.
  const bool newer = GetParam() == "ami";
  const auto& behavior = update_behavior_of(GetParam());
  const auto body = *parse_json(*test::captured_answer(tree, "/redfish/v1/UpdateService"));
  const auto reported = [&](std::string_view path) { return text_at(body, path).value_or(""); };

  EXPECT_EQ(reported("Actions/#UpdateService.SimpleUpdate/target"), behavior.simple);
  if (!newer) EXPECT_EQ(reported("MultipartHttpPushUri"), behavior.multipart);
  EXPECT_EQ(reported("HttpPushUri"), behavior.push);
}

TEST_P(CaptureOf, HasEtagsOfTheFormThatOursHas) {
  CUPEL_NEED_CAPTURE(tree, capture_of(GetParam()));
  BmcBench bmc{GetParam()};
  const auto reported =
      text_at(*parse_json(*test::captured_answer(tree, bmc.view().system())), "@odata.etag");
  const auto& tags = bmc.service.behavior().tags;

  EXPECT_EQ(reported.has_value(), tags.in_body);
  if (reported) EXPECT_EQ(reported->starts_with("W/"), tags.form == TagForm::weak) << *reported;
}

}  // namespace
}  // namespace cupel::rehearsal
