// Event logs as BMCs keep them: paged from either end, in several services, with dates that are
// none.
#include "bmc/redfish/event_log.h"

#include "bmc/redfish/spelling.h"
#include "tests/bmc/reading.h"

namespace cupel::bmc {
namespace {

constexpr const char* kSel = "/redfish/v1/Systems/1/LogServices/SEL";
constexpr const char* kEntries = "/redfish/v1/Systems/1/LogServices/SEL/Entries";

std::string entry_uri(int number, const std::string& entries = kEntries) {
  return entries + "/" + std::to_string(number);
}

/// Entry 7 was made seven minutes after ten.
json::value entry(int number, const std::string& entries = kEntries) {
  const std::string minute = (number < 10 ? "0" : "") + std::to_string(number);
  return json::object{{"@odata.id", entry_uri(number, entries)},
                      {"Id", std::to_string(number)},
                      {"Created", "2024-08-08T10:" + minute + ":00Z"},
                      {"Severity", "Warning"},
                      {"Message", "it is " + std::to_string(number)}};
}

Seconds minute(int number) {
  return *redfish::moment_of("2024-08-08T10:00:00Z") + std::chrono::minutes{number};
}

json::value page(std::vector<int> numbers, std::string next = {}, std::size_t count = 0) {
  json::array members;
  for (const int number : numbers) members.push_back(entry(number));
  json::object body{{"Members", std::move(members)}};
  if (!next.empty()) body["Members@odata.nextLink"] = std::move(next);
  if (count > 0) body["Members@odata.count"] = count;
  return body;
}

std::vector<std::string> ids(const EventLog& log) {
  std::vector<std::string> all;
  for (const auto& one : log.entries) all.push_back(one.id);
  return all;
}

class Log : public ReadingTree {
 protected:
  Log() {
    at(kSystem)["LogServices"] = link_to("/redfish/v1/Systems/1/LogServices");
    tree.documents["/redfish/v1/Systems/1/LogServices"] = list_of({kSel});
    tree.documents[kSel] = json::object{{"Id", "SEL"}, {"Entries", link_to(kEntries)}};
  }
  static std::string skip(int number) {
    return std::string{kEntries} + "?$skip=" + std::to_string(number);
  }
};

TEST_F(Log, IsReadPageByPageToItsNewestEntry) {
  tree.documents[kEntries] = page({1, 2}, skip(2));
  tree.documents[skip(2)] = page({3, 4}, skip(4));
  tree.documents[skip(4)] = page({5});

  const auto seen = log();

  EXPECT_THAT(ids(seen), ElementsAre("1", "2", "3", "4", "5"));
  EXPECT_FALSE(seen.cut);
  EXPECT_TRUE(seen.unknown.empty());
}

TEST_F(Log, JumpsToItsNewestPageWhereOnlyThoseAreAskedFor) {
  tree.documents[kEntries] = page({1, 2}, skip(2), 8);
  tree.documents[skip(6)] = page({7, 8});

  const auto seen = log(2);

  EXPECT_THAT(ids(seen), ElementsAre("7", "8"));
  EXPECT_TRUE(seen.cut);
  EXPECT_FALSE(tree.was_asked(skip(2)));
}

TEST_F(Log, JumpsNowhereWhereTheNextPageIsNamedInAnotherWay) {
  const auto token = std::string{kEntries} + "?$skiptoken=abc";
  tree.documents[kEntries] = page({1, 2}, token, 4);
  tree.documents[token] = page({3, 4});

  EXPECT_THAT(ids(log(1)), ElementsAre("4"));
}

TEST_F(Log, StopsWhereTheNewestComeFirst) {
  tree.documents[kEntries] = page({8, 7}, skip(2), 8);

  const auto seen = log(2);

  EXPECT_THAT(ids(seen), ElementsAre("7", "8"));
  EXPECT_TRUE(seen.cut);
  EXPECT_FALSE(tree.was_asked(skip(2)));
}

TEST_F(Log, LeavesOutWhatIsOlder) {
  tree.documents[kEntries] = page({1, 2, 3, 4});

  const auto seen = log(100, minute(3));

  EXPECT_THAT(ids(seen), ElementsAre("3", "4"));
  EXPECT_FALSE(seen.cut);
}

TEST_F(Log, IsCutToTheNewest) {
  tree.documents[kEntries] = page({1, 2, 3, 4});

  const auto seen = log(3);

  EXPECT_THAT(ids(seen), ElementsAre("2", "3", "4"));
  EXPECT_TRUE(seen.cut);
}

TEST_F(Log, IsNotCutWhereItIsExactlyThatLong) {
  tree.documents[kEntries] = page({1, 2, 3});
  EXPECT_FALSE(log(3).cut);
}

TEST_F(Log, KeepsAnEntryWhoseDateIsNoneAndTakesItForOld) {
  auto odd = entry(9);
  odd.as_object()["Created"] = "0000-00-00T00:00:00Z";
  auto all = page({1, 2});
  all.as_object()["Members"].as_array().push_back(odd);
  tree.documents[kEntries] = all;

  const auto seen = log(100, minute(2));

  ASSERT_THAT(ids(seen), ElementsAre("9", "2"));
  EXPECT_EQ(seen.entries[0].time, std::nullopt);
}

TEST_F(Log, TellsWhenItHappenedRatherThanWhenItWasWritten) {
  auto one = entry(5);
  one.as_object()["EventTimestamp"] = "2024-08-08T10:03:00+00:00";
  auto all = page({});
  all.as_object()["Members"].as_array().push_back(one);
  tree.documents[kEntries] = all;

  EXPECT_EQ(log().entries.at(0).time, minute(3));
}

TEST_F(Log, OfSeveralServicesHasEachEntryOnce) {
  // The manager lists the SEL again, and a log of its own; in the latter, one entry is the SEL's.
  const std::string own = "/redfish/v1/Managers/1/LogServices/EventLog";
  at(kManager)["LogServices"] = link_to("/redfish/v1/Managers/1/LogServices");
  tree.documents["/redfish/v1/Managers/1/LogServices"] = list_of({std::string{kSel} + "/", own});
  tree.documents[std::string{kSel} + "/"] = tree.documents[kSel];
  tree.documents[own] = json::object{{"Entries", link_to(own + "/Entries")}};
  auto mixed = page({2});
  mixed.as_object()["Members"].as_array().push_back(entry(4, own + "/Entries"));
  tree.documents[own + "/Entries"] = mixed;
  tree.documents[kEntries] = page({1, 2, 3});

  EXPECT_THAT(ids(log()), ElementsAre("1", "2", "3", "4"));
}

TEST_F(Log, OfABaseboardsManagerIsReadToo) {
  const std::string manager = "/redfish/v1/Managers/HGX_BMC_0", board = "/redfish/v1/Systems/HGX";
  const std::string service = manager + "/LogServices/EventLog";
  tree.documents[kSystems] = list_of({kSystem, board});
  tree.documents[board] =
      json::object{{"PowerState", "On"}, {"Links", {{"ManagedBy", json::array{link_to(manager)}}}}};
  tree.documents[manager] = json::object{{"LogServices", link_to(manager + "/LogServices")}};
  tree.documents[manager + "/LogServices"] = list_of({service});
  tree.documents[service] = json::object{{"Entries", link_to(service + "/Entries")}};
  tree.documents[service + "/Entries"] = page({6});
  tree.documents[kEntries] = page({1});

  EXPECT_THAT(ids(log()), ElementsAre("1", "6"));
}

TEST_F(Log, ThatIsListedAndNotThereIsNotedAndTheOthersRead) {
  const std::string lost = "/redfish/v1/Systems/1/LogServices/EventLog";
  tree.documents["/redfish/v1/Systems/1/LogServices"] = list_of({lost, kSel});
  tree.documents[kEntries] = page({1});

  const auto seen = log();

  EXPECT_THAT(ids(seen), ElementsAre("1"));
  EXPECT_EQ(seen.unknown, (std::vector<inventory::Unknown>{{"log EventLog", lost, "HTTP 404"}}));
}

TEST_F(Log, WhosePagesLeadInACircleEnds) {
  tree.documents[kEntries] = page({1}, skip(1));
  tree.documents[skip(1)] = page({2}, kEntries);

  EXPECT_THAT(ids(log()), ElementsAre("1", "2"));
}

TEST_F(Log, OfLinksAloneIsReadOneByOneAndOnlyTheNewest) {
  tree.documents[kEntries] = list_of({entry_uri(1), entry_uri(2), entry_uri(3)});
  for (const int number : {1, 2, 3}) tree.documents[entry_uri(number)] = entry(number);

  const auto seen = log(2);

  EXPECT_THAT(ids(seen), ElementsAre("2", "3"));
  EXPECT_TRUE(seen.cut);
  EXPECT_FALSE(tree.was_asked(entry_uri(1)));
}

/// As Supermicro's BMC logs a supply that got its input back: DSP0268, LogEntry.EntryCode.
TEST(LogEntry, SaysWhetherItsStateCameOrWent) {
  auto body = entry(1);
  body.get_object()["EntryCode"] = "Deassert";
  EXPECT_EQ(redfish::parse_log_entry(body, entry_uri(1)).direction, "Deassert");

  body.get_object()["EntryCode"] = "Assert";
  EXPECT_EQ(redfish::parse_log_entry(body, entry_uri(1)).direction, "Assert");

  body.get_object()["EntryCode"] = "Informational";
  EXPECT_EQ(redfish::parse_log_entry(body, entry_uri(1)).direction, "");
}

TEST_F(Log, OfDumpsJournalsAndPostCodesIsNoEventLog) {
  std::vector<std::string> uris;
  for (const auto* name : {"Dump", "Journal", "PostCodes", "HostLogger", "FaultLog"})
    uris.push_back("/redfish/v1/Systems/1/LogServices/" + std::string{name});
  tree.documents["/redfish/v1/Systems/1/LogServices"] = list_of(uris);

  const auto seen = log();

  EXPECT_TRUE(seen.entries.empty());
  EXPECT_TRUE(seen.unknown.empty());
  for (const auto& uri : uris) EXPECT_FALSE(tree.was_asked(uri)) << uri;
}

}  // namespace
}  // namespace cupel::bmc
