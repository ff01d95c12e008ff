// Which NVLink domain machines are in, and trays that contradict each other.
#include "inventory/nvlink_domain.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "inventory/load_profile.h"

namespace cupel::inventory {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kOne = "0a1b2c3d-0000-4000-8000-000000000001";
constexpr auto kOther = "0a1b2c3d-0000-4000-8000-000000000002";

class DomainAudit : public ::testing::Test {
 protected:
  void add(const std::string& rack, int trays, const char* cluster, std::uint32_t clique = 32766) {
    for (int i = 0; i < trays; ++i)
      trays_.push_back({fmt::format("{}-n{}", rack, trays_.size() + 1), rack, {cluster, clique}});
  }
  std::vector<std::string> words() const {
    std::vector<std::string> all;
    for (const auto& each : audit_domains(trays_))
      all.push_back((each.accuses ? "odd: " : "") + each.what);
    return all;
  }
  std::vector<TrayDomain> trays_{};
};

TEST(NvlinkDomain, IsReadFromWhatTheDriverReportsAndFromItsOwnText) {
  const auto domain = nvlink_domain("0A1B2C3D-0000-4000-8000-000000000001", " 32766 ");

  ASSERT_TRUE(domain);
  EXPECT_EQ(domain->text(), std::string{kOne} + ".32766");
  EXPECT_EQ(parse_nvlink_domain(domain->text()), domain);
}

TEST(NvlinkDomain, IsNothingForAGpuThatHasNotJoinedOrATextOfAnotherShape) {
  EXPECT_FALSE(nvlink_domain(kOne, "0")) << "clique 0 is: not joined";
  EXPECT_FALSE(nvlink_domain("00000000-0000-0000-0000-000000000000", "1"));
  EXPECT_FALSE(nvlink_domain("N/A", "N/A"));
  EXPECT_FALSE(nvlink_domain("", ""));
  EXPECT_FALSE(nvlink_domain(kOne, "-1"));
  EXPECT_FALSE(nvlink_domain(kOne, "4294967296")) << "more than 32 bits";
  EXPECT_FALSE(nvlink_domain("0a1b2c3d-0000-4000-8000-00000000000g", "1"));
  EXPECT_FALSE(nvlink_domain("0a1b2c3d+0000-4000-8000-000000000001", "1"));
  EXPECT_FALSE(parse_nvlink_domain(kOne));
  EXPECT_FALSE(parse_nvlink_domain(""));
}

TEST(NvlinkDomain, IsExpectedOfTheTraysOfAnNvl72AndOfNoDgx) {
  std::vector<Problem> problems;
  const ProfileSource source{"/nonexistent"};

  for (const auto* tray : {"gb200-nvl72-tray", "gb300-nvl72-tray"})
    EXPECT_TRUE(belongs_in_domain(source.load(tray, problems).value())) << tray;
  for (const auto* other : {"dgx-h100", "hgx-b200-8", "cpu-server"})
    EXPECT_FALSE(belongs_in_domain(source.load(other, problems).value())) << other;
}

TEST_F(DomainAudit, FindsNothingWhereEachRackIsOneDomainOfAnyPartitions) {
  add("a01", 17, kOne);
  add("a01", 1, kOne, 5);
  add("a02", 18, kOther);

  EXPECT_THAT(words(), IsEmpty());
}

TEST_F(DomainAudit, NamesTheTrayWhoseRackIsInAnotherDomain) {
  add("a01", 17, kOne);
  add("a01", 1, kOther);

  EXPECT_THAT(words(), ElementsAre(fmt::format("odd: a01-n18 is in NVLink domain {}, but 17 of the "
                                               "18 trays of rack a01 are in {}",
                                               kOther, kOne)));
}

TEST_F(DomainAudit, AccusesNoTrayWhereNoDomainHasMostOfTheRack) {
  add("a01", 2, kOne);
  add("a01", 2, kOther);

  EXPECT_THAT(words(), ElementsAre(fmt::format(
                           "the trays of rack a01 report several NVLink domains, and none has more "
                           "than half of them: {}: a01-n1, a01-n2; {}: a01-n3, a01-n4",
                           kOne, kOther)));
}

TEST_F(DomainAudit, NamesTheTrayOfARackWhoseDomainIsAnotherRacks) {
  add("a01", 17, kOne);
  add("a02", 1, kOne);

  EXPECT_THAT(words(),
              ElementsAre(fmt::format("odd: a02-n18 is a tray of rack a02, but 17 of the 18 trays "
                                      "of its NVLink domain {} are in rack a01",
                                      kOne)));
}

TEST_F(DomainAudit, AccusesNoRackWhereTwoHaveOneDomainAlike) {
  add("a01", 2, kOne);
  add("a02", 2, kOne);

  EXPECT_THAT(words(), ElementsAre(HasSubstr("spans several racks, and none has more than half of "
                                             "its trays: a01: a01-n1, a01-n2; a02: a02-n3, "
                                             "a02-n4")));
}

/// A tray of a02 that was put into a01: it is odd once, and a02 is not accused of a span.
TEST_F(DomainAudit, NamesATrayOfAnotherRackOnce) {
  add("a01", 17, kOne);
  add("a01", 1, kOther);
  add("a02", 17, kOther);

  EXPECT_THAT(words(), ElementsAre(HasSubstr("odd: a01-n18 is in NVLink domain")));
}

TEST_F(DomainAudit, ComparesNoTrayOfNoRack) {
  add("", 1, kOne);
  add("", 1, kOther);

  EXPECT_THAT(words(), IsEmpty());
}

}  // namespace
}  // namespace cupel::inventory
