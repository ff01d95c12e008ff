// A collection is read over all of its pages, or not at all.
#include "bmc/redfish/pages.h"

#include "tests/bmc/acting.h"

namespace cupel::bmc {
namespace {

constexpr const char* kThings = "/redfish/v1/Things";

class MemberUris : public Acting {
 protected:
  /// A page with these things, and the number of the next one; 0: it is the last.
  void set_page(int number, const std::vector<std::string>& things, int next,
                const json::object& more = {}) {
    std::vector<std::string> uris;
    for (const auto& thing : things) uris.push_back(uri(thing));
    auto body = collection(uris).as_object();
    for (const auto& entry : more) body[entry.key()] = entry.value();
    if (next > 0) body["Members@odata.nextLink"] = page_uri(next);
    server.set(page_uri(number), body);
  }
  Result<std::vector<std::string>> read(std::size_t most = 8) {
    auto asking = client();
    auto found = run(redfish::member_uris(asking, std::string{kThings}, most, soon()));
    run(asking.log_out());
    return found;
  }
  static std::string uri(const std::string& thing) { return std::string{kThings} + "/" + thing; }
  static std::string page_uri(int number) {
    return number == 1 ? kThings : "/redfish/v1/Pages/" + std::to_string(number);
  }
};

TEST_F(MemberUris, AreThoseOfAllPagesEachOnce) {
  set_page(1, {"1", "2"}, 2);
  set_page(2, {"2", "3"}, 3);
  set_page(3, {}, 0);

  const auto found = read();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(*found, ElementsAre(uri("1"), uri("2"), uri("3")));
}

TEST_F(MemberUris, AreUnknownWhereALaterPageIsMissing) {
  set_page(1, {"1"}, 2);

  const auto found = read();

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kMalformed) << "not that there is no such collection";
  EXPECT_THAT(found.error().what, HasSubstr("/redfish/v1/Things: a page of it is missing"));
}

TEST_F(MemberUris, AreUnknownWherePagesLeadInCircles) {
  set_page(1, {"1"}, 1, {{"Members@odata.count", 2}});

  const auto found = read();

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().what, "/redfish/v1/Things: its pages lead in circles");
}

TEST_F(MemberUris, AreAllThereWhereTheOnlyPageLeadsToItself) {
  set_page(1, {"1"}, 1, {{"Members@odata.count", 1}});

  const auto found = read();

  ASSERT_TRUE(found) << found.error().what;
  EXPECT_THAT(*found, ElementsAre(uri("1")));
}

TEST_F(MemberUris, AreTooManyBeyondTheirLimit) {
  set_page(1, {"1", "2"}, 2);
  set_page(2, {"3"}, 0);

  const auto found = read(2);

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().what, "/redfish/v1/Things: more than 2 members: too many to read");
}

TEST_F(MemberUris, AreTooManyOnMoreThan64Pages) {
  for (int page = 1; page <= 65; ++page) set_page(page, {std::to_string(page)}, page + 1);

  const auto found = read(1000);

  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().what, "/redfish/v1/Things: more than 64 pages: too many to read");
}

}  // namespace
}  // namespace cupel::bmc
