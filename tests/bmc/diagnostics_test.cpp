// Diagnostic data as BMCs collect it: what is offered, the task, the entry, and the file; and a BMC
// that lies about each of them.
#include "bmc/diagnostics.h"

#include "bmc/redfish/diagnostics.h"
#include "tests/bmc/acting.h"
#include "tests/support/captures.h"

namespace cupel::bmc {
namespace {

constexpr const char* kLogs = "/redfish/v1/Managers/1/LogServices";
constexpr const char* kDump = "/redfish/v1/Managers/1/LogServices/Dump";
constexpr const char* kEntries = "/redfish/v1/Managers/1/LogServices/Dump/Entries";
constexpr const char* kEntry = "/redfish/v1/Managers/1/LogServices/Dump/Entries/7";
constexpr const char* kFile = "/redfish/v1/Managers/1/LogServices/Dump/Entries/7/attachment";
constexpr const char* kTask = "/redfish/v1/TaskService/Tasks/5";
constexpr std::uint64_t kMost = 1u << 20;

json::object entry(const json::object& but = {}, const std::string& uri = kEntry) {
  json::object body{{"@odata.id", uri},
                    {"Id", uri.substr(uri.rfind('/') + 1)},
                    {"DiagnosticDataType", "Manager"},
                    {"Created", "2026-11-21T10:00:00Z"},
                    {"AdditionalDataURI", uri + "/attachment"},
                    {"AdditionalDataSizeBytes", 5}};
  for (const auto& each : but) body[each.key()] = each.value();
  return body;
}

/// A manager with a log service for dumps, which makes entry 7.
class Diagnostics : public Acting {
 protected:
  void SetUp() override {
    manage({{"LogServices", link(kLogs)}});
    server.set(kLogs, collection({kDump}));
    server.set(kDump, service({}));
    list({});
    answer_with(202, task("Running"));
  }
  static json::value service(const json::object& allowed, const std::string& uri = kDump) {
    json::object action{{"target", uri + "/Actions/LogService.CollectDiagnosticData"}};
    for (const auto& each : allowed) action[each.key()] = each.value();
    return {{"Id", "Dump"},
            {"Entries", link(uri + "/Entries")},
            {"Actions", {{"#LogService.CollectDiagnosticData", std::move(action)}}}};
  }
  /// The entries that are there from now on, whole.
  void list(json::array entries) {
    for (const auto& each : entries) server.set(*text_at(each, "@odata.id"), each);
    server.set(kEntries, json::object{{"Members", std::move(entries)}});
  }
  static json::object task(const std::string& state, json::array headers = {}) {
    return {{"@odata.id", kTask},
            {"Id", "5"},
            {"TaskState", state},
            {"Messages", {{{"Message", "No space is left."}, {"MessageId", "Dump.1.0.Full"}}}},
            {"Payload", {{"HttpHeaders", std::move(headers)}}}};
  }
  /// What the action is answered with. It makes entry 7, unless `leaves` says otherwise.
  void answer_with(int status, json::value body, bool leaves = true) {
    server.change([this, status, body = std::move(body), leaves](auto& options) {
      options.writes = [this, status, body, leaves](
                           const std::string& method, const std::string& uri,
                           const json::value& sent,
                           test::Resources& now) -> std::optional<test::Written> {
        if (method != "POST" || !uri.ends_with("CollectDiagnosticData")) return std::nullopt;
        asked.push_back(uri.substr(0, uri.find("/Actions")) + " " + serialize(sent));
        if (leaves) now.write(kEntry, entry());
        if (leaves) now.write(kEntries, json::object{{"Members", json::array{entry()}}});
        return test::Written{status, body.is_null() ? "" : serialize(body)};
      };
    });
  }
  void task_is(const std::string& state, json::array headers = {}) {
    server.set(kTask, task(state, std::move(headers)));
  }
  Result<std::vector<DiagnosticData>> collect(Deadline deadline = soon()) {
    const auto bmc = open();
    auto files = run(bmc->diagnostics.collect({.service = kDump, .type = "Manager"}, deadline));
    run(bmc->log_out());
    return files;
  }
  Result<DiagnosticOffers> offered() {
    const auto bmc = open();
    auto offers = run(bmc->diagnostics.offered(soon()));
    run(bmc->log_out());
    return offers;
  }
  Result<std::uint64_t> download(DiagnosticData file = {.entry = kEntry, .uri = kFile, .bytes = 5},
                                 std::uint64_t most = kMost) {
    const auto bmc = open();
    const DiagnosticSink sink = [this](std::string_view piece) {
      got += piece;
      return ok();
    };
    auto bytes = run(bmc->diagnostics.download(std::move(file), sink, most, soon()));
    run(bmc->log_out());
    return bytes;
  }
  void file_is(std::string bytes, int status = 200,
               std::map<std::string, std::string> headers = {}) {
    server.misbehave({.method = "GET",
                      .path = kFile,
                      .status = status,
                      .body = std::move(bytes),
                      .headers = std::move(headers)});
  }

  static inline const DiagnosticData kSeven{.entry = kEntry, .uri = kFile, .bytes = 5};
  std::vector<std::string> asked;  // "SERVICE BODY"
  std::string got;
};

TEST_F(Diagnostics, AreTheFileOfTheEntryThatTheTaskNames) {
  task_is("Completed", {"Host: bmc", std::string{"Location: "} + kEntry});
  list({entry({}, std::string{kEntries} + "/6")});

  const auto files = collect();

  ASSERT_TRUE(files) << files.error().what;
  EXPECT_THAT(*files, ElementsAre(kSeven));
  EXPECT_THAT(asked, ElementsAre(std::string{kDump} + R"( {"DiagnosticDataType":"Manager"})"));
}

TEST_F(Diagnostics, AreThoseOfTheNewEntriesWhereTheTaskNamesNone) {
  list({entry({}, std::string{kEntries} + "/6")});
  task_is("Completed");

  const auto files = collect();

  ASSERT_TRUE(files) << files.error().what;
  EXPECT_THAT(*files, ElementsAre(kSeven));
}

/// An XCC: its entry FFDC is always there, and has a file once one was collected.
TEST_F(Diagnostics, AreThatOfAnEntryWhichWasThereAndHadNoFile) {
  list({entry({{"AdditionalDataURI", nullptr}, {"AdditionalDataSizeBytes", 0}})});
  task_is("Completed");

  const auto files = collect();

  ASSERT_TRUE(files) << files.error().what;
  EXPECT_THAT(*files, ElementsAre(kSeven));
}

TEST_F(Diagnostics, OfAnotherTypeThatCameMeanwhileAreLeftOut) {
  answer_with(202, task("Running"), false);
  task_is("Completed");
  server.misbehave(
      {.method = "GET", .path = kEntries, .status = 200, .body = R"({"Members": []})"});
  list({entry({{"DiagnosticDataType", "OS"}}, std::string{kEntries} + "/6"), entry()});

  const auto files = collect();

  ASSERT_TRUE(files) << files.error().what;
  EXPECT_THAT(*files, ElementsAre(kSeven));
}

TEST_F(Diagnostics, AreLookedForWhereTheAnswerToTheActionWasLost) {
  server.misbehave({.method = "POST", .path = kDump, .kind = test::Habit::Kind::act_and_reset});

  const auto files = collect();

  ASSERT_TRUE(files) << files.error().what;
  EXPECT_THAT(*files, ElementsAre(kSeven));
  EXPECT_EQ(asked.size(), 1u);
}

/// A BMC that packs a large file shows lists that break off.
TEST_F(Diagnostics, AreLookedForAgainWhereALookFails) {
  task_is("Completed");
  server.misbehave(
      {.method = "GET", .path = kEntries, .status = 200, .body = R"({"Members": [)", .skip = 1});

  const auto files = collect();

  ASSERT_TRUE(files) << files.error().what;
  EXPECT_THAT(*files, ElementsAre(kSeven));
}

TEST_F(Diagnostics, AreLookedForWhereAGatewayAnsweredInstead) {
  server.change([](auto& options) {
    options.last_word = [](test::Exchanged& now) {
      if (now.path.ends_with("CollectDiagnosticData")) now.status = 504;
    };
  });

  const auto files = collect();

  ASSERT_TRUE(files) << files.error().what;
  EXPECT_THAT(*files, ElementsAre(kSeven));
  EXPECT_EQ(asked.size(), 1u);
}

TEST_F(Diagnostics, FailWithTheTasksOwnMessages) {
  task_is("Exception");

  const auto files = collect();

  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, Code::kFailed);
  EXPECT_THAT(files.error().what, HasSubstr("No space is left."));
}

TEST_F(Diagnostics, EndAtTheDeadlineWhereTheTaskNeverDoes) {
  task_is("Running");

  const auto files = collect(Deadline::in(5s));

  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().code, Code::kTimeout);
  EXPECT_THAT(files.error().what, HasSubstr(kTask));
  EXPECT_EQ(asked.size(), 1u);
}

TEST_F(Diagnostics, OfATaskThatNamesAnotherHostStayOnTheBmc) {
  task_is("Completed", {"Location: https://10.9.9.9" + std::string{kEntry}});

  const auto files = collect();

  ASSERT_TRUE(files) << files.error().what;
  EXPECT_THAT(*files, ElementsAre(kSeven));
}

TEST_F(Diagnostics, AreUnsupportedWhereNoLogServiceCollectsAny) {
  server.set(kDump, json::object{{"Id", "Dump"}, {"Entries", link(kEntries)}});

  const auto offers = offered();

  ASSERT_FALSE(offers);
  EXPECT_EQ(offers.error().code, Code::kUnsupported);
  EXPECT_THAT(offers.error().what, HasSubstr("offers no LogService.CollectDiagnosticData"));
}

TEST_F(Diagnostics, NameTheLogServiceThatCouldNotBeRead) {
  const std::string broken = std::string{kLogs} + "/Journal";
  server.set(kLogs, collection({broken, kDump}));
  server.misbehave({.method = "GET", .path = broken, .times = 9, .status = 500});

  const auto offers = offered();

  ASSERT_TRUE(offers) << offers.error().what;
  EXPECT_THAT(offers->services, ElementsAre(DiagnosticOffer{.service = kDump}));
  ASSERT_EQ(offers->unknown.size(), 1u);
  EXPECT_EQ(offers->unknown.front().source, broken);
}

TEST_F(Diagnostics, OfALogServiceThatIsListedAndNotThereAreNotMissed) {
  server.set(kLogs, collection({std::string{kLogs} + "/Gone", kDump}));

  const auto offers = offered();

  ASSERT_TRUE(offers) << offers.error().what;
  EXPECT_EQ(offers->services.size(), 1u);
  EXPECT_TRUE(offers->unknown.empty());
}

TEST_F(Diagnostics, OfManagersOverTheLimitAreNotReadInSilence) {
  auto system = test_system();
  json::array managers{link(kManager)};
  for (int i = 2; i <= 20; ++i)
    managers.push_back(link("/redfish/v1/Managers/" + std::to_string(i)));
  system.as_object()["Links"] = json::object{{"ManagedBy", std::move(managers)}};
  server.set(kSystem, system);

  const auto offers = offered();

  ASSERT_TRUE(offers) << offers.error().what;
  EXPECT_THAT(offers->services, ElementsAre(DiagnosticOffer{.service = kDump}));
  ASSERT_EQ(offers->unknown.size(), 1u);
  EXPECT_THAT(offers->unknown.front().why, HasSubstr("more than 16"));
}

TEST_F(Diagnostics, ThatCouldNotBeReadAreNotCalledUnsupported) {
  server.misbehave({.method = "GET", .path = kDump, .times = 9, .status = 500});

  const auto offers = offered();

  ASSERT_FALSE(offers);
  EXPECT_EQ(offers.error().code, Code::kFailed);
  EXPECT_THAT(offers.error().what, HasSubstr("could not be read"));
}

TEST_F(Diagnostics, AreDownloadedByteForByte) {
  file_is(std::string{"\x1f\x8b\0\xff\n", 5});

  const auto bytes = download();

  ASSERT_TRUE(bytes) << bytes.error().what;
  EXPECT_EQ(*bytes, 5u);
  EXPECT_EQ(got, (std::string{"\x1f\x8b\0\xff\n", 5}));
}

TEST_F(Diagnostics, OfMoreThanOneBufferArriveWhole) {
  std::string large(3u << 20, 'x');
  large.back() = 'y';
  file_is(large);

  const auto bytes = download({.entry = kEntry, .uri = kFile}, 4u << 20);

  ASSERT_TRUE(bytes) << bytes.error().what;
  EXPECT_EQ(got.size(), large.size());
  EXPECT_TRUE(got == large);
}

TEST_F(Diagnostics, OfAnotherHostAreNotFetched) {
  for (const std::string uri : {"https://10.9.9.9/dump", "http://127.0.0.1/dump", "//10.9.9.9/dump",
                                "ftp://10.9.9.9/", "/redfish/v1/../../dump", "dump"}) {
    const auto bytes = download({.entry = kEntry, .uri = uri});

    ASSERT_FALSE(bytes) << uri;
    EXPECT_EQ(bytes.error().code, Code::kInvalid) << uri;
  }
  EXPECT_EQ(got, "");
  EXPECT_EQ(count("GET /dump"), 0);
}

TEST_F(Diagnostics, AreNotFollowedByARedirect) {
  file_is("", 302, {{"Location", "https://10.9.9.9/dump"}});

  const auto bytes = download();

  EXPECT_FALSE(bytes);
  EXPECT_EQ(got, "");
}

TEST_F(Diagnostics, ThatNeverEndAreBrokenOffAtTheLimit) {
  file_is(std::string(3u << 20, 'x'));

  const auto bytes = download({.entry = kEntry, .uri = kFile});

  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, Code::kMalformed);
  EXPECT_THAT(bytes.error().what, HasSubstr("more than 1048576 bytes"));
  EXPECT_LE(got.size(), kMost);
}

TEST_F(Diagnostics, ThatSayTheyAreTooLargeAreNotBegun) {
  const auto bytes = download({.entry = kEntry, .uri = kFile, .bytes = kMost + 1});

  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, Code::kMalformed);
  EXPECT_EQ(count(std::string{"GET "} + kFile), 0);
}

TEST_F(Diagnostics, ThatAreShorterThanTheirEntrySaysAreNoWholeFile) {
  file_is("abc");

  const auto bytes = download();

  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, Code::kMalformed);
  EXPECT_THAT(bytes.error().what, HasSubstr("3 bytes of 5"));
}

TEST_F(Diagnostics, ThatAreEmptyAreNoFile) {
  file_is("");

  const auto bytes = download({.entry = kEntry, .uri = kFile});

  ASSERT_FALSE(bytes);
  EXPECT_THAT(bytes.error().what, HasSubstr("attachment is empty"));
}

TEST_F(Diagnostics, ThatBreakOffAreNoWholeFile) {
  server.misbehave({.method = "GET", .path = kFile, .kind = test::Habit::Kind::cut, .status = 200});

  EXPECT_FALSE(download({.entry = kEntry, .uri = kFile}));
}

TEST_F(Diagnostics, ThatAreGoneAreAnErrorAndNoFile) {
  file_is(test::refusal("Base.1.8.ResourceMissing", "No such."), 404);

  const auto bytes = download();

  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, Code::kNotFound);
  EXPECT_EQ(got, "");
}

TEST_F(Diagnostics, EndWhereTheirReaderHasNoRoom) {
  file_is("abcde");
  const auto bmc = open();
  const DiagnosticSink full = [](std::string_view) -> Result<void> {
    return Error{Code::kStorage, "the disk is full"};
  };

  const auto bytes = run(bmc->diagnostics.download(kSeven, full, kMost, soon()));
  run(bmc->log_out());

  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().code, Code::kStorage);
}

DiagnosticOffer offer(std::string service, std::vector<std::string> types = {},
                      std::vector<std::string> oem = {}) {
  return {
      .service = "/redfish/v1/" + service, .types = std::move(types), .oem_types = std::move(oem)};
}

std::vector<std::string> ordered(const std::vector<DiagnosticOffer>& offers,
                                 std::string_view requested) {
  const auto orders = diagnostic_orders(offers, requested);
  if (!orders) return {orders.error().what};
  std::vector<std::string> all;
  for (const auto& order : *orders)
    all.push_back(short_name_of_service(order.service) + " " + order.type + " " + order.oem_type);
  return all;
}

TEST(DiagnosticOrders, AskEveryServiceThatReportsTheType) {
  const std::vector offers{offer("Managers/A/LogServices/Dump", {"Manager"}),
                           offer("Managers/B/LogServices/Dump", {"Manager", "OEM"}),
                           offer("Managers/C/LogServices/Dump")};

  EXPECT_THAT(ordered(offers, "manager"), ElementsAre("Managers/A/LogServices/Dump Manager ",
                                                      "Managers/B/LogServices/Dump Manager "));
}

TEST(DiagnosticOrders, AskManagersForManagerWhereNoTypesAreReported) {
  const std::vector offers{offer("Managers/A/LogServices/Dump"),
                           offer("Systems/A/LogServices/Dump")};

  EXPECT_THAT(ordered(offers, "Manager"), ElementsAre("Managers/A/LogServices/Dump Manager "));
  EXPECT_THAT(ordered(offers, "OEM:FPGA"), ElementsAre("Systems/A/LogServices/Dump OEM FPGA"));
}

/// An XCC has its own data under its System, and reports no types.
TEST(DiagnosticOrders, AskTheOnlyServiceThereIs) {
  EXPECT_THAT(ordered({offer("Systems/1/LogServices/DiagnosticLog")}, "Manager"),
              ElementsAre("Systems/1/LogServices/DiagnosticLog Manager "));
}

TEST(DiagnosticOrders, TakeTheNameBehindTheVendorsEqualsSign) {
  const std::vector offers{
      offer("Systems/A/LogServices/Dump", {"OEM"}, {"DiagnosticType=FPGA", "DiagnosticType=ROT"})};

  EXPECT_THAT(ordered(offers, "OEM:rot"),
              ElementsAre("Systems/A/LogServices/Dump OEM DiagnosticType=ROT"));
}

TEST(DiagnosticOrders, ListWhatIsOfferedWhereNothingFits) {
  const std::vector offers{offer("Systems/A/LogServices/Dump", {"OEM"}, {"DiagnosticType=FPGA"})};

  for (const auto* requested : {"OEM:Nothing", "Manager", "OEM:"})
    EXPECT_FALSE(diagnostic_orders(offers, requested)) << requested;
  EXPECT_THAT(ordered(offers, "Manager").front(),
              HasSubstr("Systems/A/LogServices/Dump: OEM:DiagnosticType=FPGA"));
  EXPECT_THAT(ordered(offers, "Everything").front(), HasSubstr("no type of diagnostic data"));
  EXPECT_THAT(ordered(offers, "").front(), HasSubstr("no type of diagnostic data"));
}

TEST(DiagnosticOrders, CutWordsOfAnyLengthShortInTheirList) {
  const std::vector offers{offer("Systems/A/LogServices/Dump", {"OEM", std::string(9000, 'y')},
                                 {std::string(9000, 'x')})};

  EXPECT_LT(ordered(offers, "Manager").front().size(), 1000u);
}

/// Where real machines offer it, and with which types.
class CapturedDiagnostics : public OverHttps {
 protected:
  Result<DiagnosticOffers> of(const std::filesystem::path& tree) {
    server.change([&](auto& options) { options.tree = tree; });
    const auto bmc = open();
    auto offers = run(bmc->diagnostics.offered(soon()));
    run(bmc->log_out());
    return offers;
  }
};

TEST_F(CapturedDiagnostics, OfADgxAreItsTwoManagersAndItsBaseboards) {
  CUPEL_NEED_CAPTURE(tree, "nvidia_viking");

  const auto offers = of(tree);

  ASSERT_TRUE(offers) << offers.error().what;
  EXPECT_THAT(offers->services,
              UnorderedElementsAre(offer("Managers/BMC/LogServices/DiagnosticLog"),
                                   offer("Managers/HGX_BMC_0/LogServices/Dump"),
                                   offer("Systems/HGX_Baseboard_0/LogServices/Dump")));
}

TEST_F(CapturedDiagnostics, OfAGb200HaveTheTypesOfItsActionInfos) {
  CUPEL_NEED_CAPTURE(tree, "nvidia_gb200");
  const std::vector<std::string> oem{"DiagnosticType=FPGA", "DiagnosticType=ROT",
                                     "DiagnosticType=FirmwareAttributes",
                                     "DiagnosticType=HardwareCheckout"};

  const auto offers = of(tree);

  ASSERT_TRUE(offers) << offers.error().what;
  EXPECT_THAT(offers->services,
              UnorderedElementsAre(offer("Managers/BMC_0/LogServices/Dump", {"Manager"}),
                                   offer("Systems/System_0/LogServices/Dump", {"OEM"}, oem),
                                   offer("Systems/HGX_Baseboard_0/LogServices/Dump", {"OEM"}, oem),
                                   offer("Systems/HGX_Baseboard_0/LogServices/FDR")));
}

TEST_F(CapturedDiagnostics, OfALenovoAreItsSystems) {
  CUPEL_NEED_CAPTURE(tree, "lenovo");

  const auto offers = of(tree);

  ASSERT_TRUE(offers) << offers.error().what;
  EXPECT_THAT(offers->services, ElementsAre(offer("Systems/1/LogServices/DiagnosticLog")));
}

/// Theirs are other actions: SupportAssist, AHS.
TEST_F(CapturedDiagnostics, AreNotThereOnADell) {
  CUPEL_NEED_CAPTURE(tree, "dell");

  const auto offers = of(tree);

  ASSERT_FALSE(offers);
  EXPECT_EQ(offers.error().code, Code::kUnsupported) << offers.error().what;
}

}  // namespace
}  // namespace cupel::bmc
