// Event logs as BMCs keep them: paged from either end, in several services, with dates that are
// none.
#include "bmc/redfish/event_log.h"

#include <fmt/chrono.h>

#include "bmc/redfish/spelling.h"
#include "tests/bmc/reading.h"

namespace cupel::bmc {
namespace {

constexpr const char* kSel = "/redfish/v1/Systems/1/LogServices/SEL";
constexpr const char* kEntries = "/redfish/v1/Systems/1/LogServices/SEL/Entries";

std::string entry_uri(int number, const std::string& entries = kEntries) {
  return entries + "/" + std::to_string(number);
}

Seconds minute(int number) {
  return *redfish::moment_of("2024-08-08T10:00:00Z") + std::chrono::minutes{number};
}

/// Entry 7 was made seven minutes after ten.
json::value entry(int number, const std::string& entries = kEntries) {
  return json::object{{"@odata.id", entry_uri(number, entries)},
                      {"Id", std::to_string(number)},
                      {"Created", fmt::format("{:%FT%TZ}", minute(number))},
                      {"Severity", "Warning"},
                      {"Message", "it is " + std::to_string(number)}};
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
  static std::string token(int number) {
    return std::string{kEntries} + "?$skiptoken=" + std::to_string(number);
  }
  /// Entries 1 to `last`, oldest first, a page each `step` of them, linked by `name`.
  void pages(int last, int step, std::string (*name)(int), bool counts) {
    for (int from = 0; from < last; from += step) {
      std::vector<int> numbers(static_cast<std::size_t>(std::min(step, last - from)));
      std::iota(numbers.begin(), numbers.end(), from + 1);
      const auto next = from + step < last ? name(from + step) : std::string{};
      tree.documents[from == 0 ? kEntries : name(from)] =
          page(std::move(numbers), next, counts ? static_cast<std::size_t>(last) : 0);
    }
  }
};

TEST_F(Log, OfManyPagesOldestFirstHasWhatIsRecent) {
  for (const bool counts : {true, false}) {
    for (const auto name : {skip, token}) {
      tree.documents.erase(kEntries);
      pages(120, 50, name, counts);

      const auto seen = log(50, minute(91));

      EXPECT_EQ(seen.entries.size(), 30u) << name(0) << counts;
      EXPECT_EQ(ids(seen).back(), "120");
      EXPECT_FALSE(seen.cut);
      EXPECT_FALSE(seen.newest_missing);
      EXPECT_TRUE(seen.unknown.empty());
    }
  }
}

TEST_F(Log, OfAHundredPagesIsReadToItsNewestEntry) {
  pages(5000, 50, token, true);

  const auto seen = log(3);

  EXPECT_THAT(ids(seen), ElementsAre("4998", "4999", "5000"));
  EXPECT_TRUE(seen.cut);
  EXPECT_FALSE(seen.newest_missing);
}

TEST_F(Log, IsSkippedToItsNewestEntriesAlsoWhereTheBmcLinksItsPagesOtherwise) {
  pages(5000, 50, token, true);
  tree.documents[skip(4997)] = page({4998, 4999, 5000});

  const auto seen = log(3);

  EXPECT_THAT(ids(seen), ElementsAre("4998", "4999", "5000"));
  EXPECT_FALSE(tree.was_asked(token(50)));
}

TEST_F(Log, IsReadPageByPageWhereTheBmcIgnoresTheSkip) {
  pages(200, 50, token, true);
  tree.documents[skip(197)] = tree.documents[kEntries];

  EXPECT_THAT(ids(log(3)), ElementsAre("198", "199", "200"));
}

TEST_F(Log, ThatGoesOnBehindTheLastPageThatIsReadLacksItsNewestAndSaysSo) {
  pages(450, 1, token, false);

  const auto seen = log(3);

  EXPECT_TRUE(seen.newest_missing);
  ASSERT_TRUE(is_unknown(seen.unknown, "the newest entries of log SEL"));
  EXPECT_THAT(seen.unknown.at(0).why, HasSubstr("400 entries on 400 pages"));
}

TEST_F(Log, WhoseLaterPageCannotBeReadLacksItsNewestAndSaysSo) {
  pages(200, 50, token, false);
  tree.documents.erase(token(100));

  const auto seen = log(3);

  EXPECT_TRUE(seen.newest_missing);
  EXPECT_TRUE(is_unknown(seen.unknown, "the newest entries of log SEL"));
}

TEST_F(Log, WhoseClockJumpedBackOnceStillComesOldestFirst) {
  auto first = page({10, 11, 12, 13}, skip(4));
  first.as_object()["Members"].as_array().push_back(entry(1));
  tree.documents[kEntries] = first;
  tree.documents[skip(4)] = page({20, 21});

  EXPECT_THAT(ids(log(100, minute(20))), ElementsAre("20", "21"));
}

TEST_F(Log, OfLinksAloneThatBeginWithTheNewestIsCutToThose) {
  tree.documents[kEntries] = list_of({entry_uri(3), entry_uri(2), entry_uri(1)});
  for (const int number : {1, 2, 3}) tree.documents[entry_uri(number)] = entry(number);

  EXPECT_THAT(ids(log(2)), ElementsAre("2", "3"));
}

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

TEST_F(Log, WhoseFirstPageAnotherLogHasIsReadToItsNewestEntry) {
  const std::string own = "/redfish/v1/Managers/1/LogServices/EventLog";
  at(kManager)["LogServices"] = link_to("/redfish/v1/Managers/1/LogServices");
  tree.documents["/redfish/v1/Managers/1/LogServices"] = list_of({std::string{kSel} + "/", own});
  tree.documents[std::string{kSel} + "/"] = tree.documents[kSel];
  tree.documents[own] = json::object{{"Entries", link_to(own + "/Entries")}};
  tree.documents[own + "/Entries"] = page({1, 2}, own + "/Entries?$skip=2");
  tree.documents[own + "/Entries?$skip=2"] = page({5});
  tree.documents[kEntries] = page({1, 2}, skip(2));
  tree.documents[skip(2)] = page({3});

  const auto seen = log();

  EXPECT_THAT(ids(seen), ElementsAre("1", "2", "3", "5"));
  EXPECT_FALSE(seen.newest_missing);
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

TEST_F(Log, OfManagersOverTheLimitIsNotedOnce) {
  const std::string board = "/redfish/v1/Systems/HGX";
  json::array managers;
  for (int i = 0; i < 12; ++i) {
    const std::string manager = "/redfish/v1/Managers/HGX_BMC_" + std::to_string(i);
    managers.push_back(link_to(manager));
    tree.documents[manager] = json::object{{"Id", "HGX"}};
  }
  tree.documents[kSystems] = list_of({kSystem, board});
  tree.documents[board] =
      json::object{{"PowerState", "On"}, {"Links", {{"ManagedBy", std::move(managers)}}}};
  tree.documents[kEntries] = page({1});

  const auto seen = log();

  EXPECT_THAT(ids(seen), ElementsAre("1"));
  ASSERT_EQ(seen.unknown.size(), 1u);
  EXPECT_EQ(seen.unknown.front().source, "/redfish/v1/Managers/HGX_BMC_8");
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
  tree.documents[kEntries] = list_of({entry_uri(1), entry_uri(2), entry_uri(3), entry_uri(4)});
  for (const int number : {1, 2, 3, 4}) tree.documents[entry_uri(number)] = entry(number);

  const auto seen = log(2);

  EXPECT_THAT(ids(seen), ElementsAre("3", "4"));
  EXPECT_TRUE(seen.cut);
  EXPECT_FALSE(tree.was_asked(entry_uri(2)));
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
