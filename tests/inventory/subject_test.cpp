#include "inventory/subject.h"

#include <gmock/gmock.h>

namespace cupel::inventory {
namespace {

using Kind = Subject::Kind;

TEST(Subject, ReadsEachKindAsItIsWritten) {
  const std::vector<std::pair<std::string, Subject>> all{
      {"a01-n07", {Kind::node, "a01-n07"}},
      {"a01-n07/gpu3", {Kind::part, "a01-n07", "gpu3"}},
      {"a01-n07/dimm A7", {Kind::part, "a01-n07", "dimm A7"}},
      {"a01-n07/mlx5_0/1", {Kind::part, "a01-n07", "mlx5_0/1"}},
      {"link:a01-n07/mlx5_0/1<->leaf3/swp7", {Kind::link, "a01-n07", "mlx5_0/1", "leaf3", "swp7"}},
      {"port:leaf3/swp7", {Kind::switch_port, "leaf3", "swp7"}},
      {"feed:pdu2/B", {Kind::power_feed, "pdu2", "B"}},
      {"group:rail0", {Kind::group, "rail0"}}};
  for (const auto& [text, subject] : all) {
    EXPECT_EQ(parse_subject(text).value(), subject);
    EXPECT_EQ(to_text(subject), text);
    EXPECT_TRUE(is_valid(subject));
  }
}

TEST(Subject, RefusesWhatIsHalfOrNotPrintable) {
  for (const std::string& text :
       {std::string{}, std::string{"/gpu3"}, std::string{"n1/"}, std::string{"n 1"},
        std::string{"n1/ gpu3"}, std::string{"n1/gpu\n3"}, std::string{"n1/a<->b"},
        std::string{"link:n1/a"}, std::string{"link:n1/a<->"}, std::string{"link:n1<->n2"},
        std::string{"link:n1/a<->n2/b<->n3/c"}, std::string{"port:leaf3"}, std::string{"feed:"},
        std::string{"group:a/b"}, std::string{"rack:a01"}, std::string(129, 'n'),
        "n1/" + std::string(129, 'p')})
    EXPECT_EQ(parse_subject(text).error().code, Code::kMalformed) << text;
}

TEST(Subject, IsANodeWhereNoPartIsNamedAndALinkWhereOneIs) {
  EXPECT_EQ(Subject::part_of("n1", ""), Subject::node("n1"));
  const Subject link{Kind::link, "n1", "eth0", "n2", "eth1"};
  EXPECT_EQ(Subject::part_of("n1", to_text(link)), link);
  EXPECT_FALSE(is_valid(Subject::part_of("n1", "link:n1/eth0<->n2")));
  EXPECT_EQ(to_text(Subject::part_of("n1", "gpu0")), "n1/gpu0");
  EXPECT_FALSE(is_valid(Subject::part_of("n1", "gpu\t0")));
}

TEST(Subject, OfARecordIsAPartOfItsNodeOrWhatTheTextNamesInFull) {
  const std::vector<Subject> all{{Kind::node, "n1"},
                                 {Kind::part, "n1", "gpu3"},
                                 {Kind::link, "n1", "mlx5_0/1", "leaf3", "swp7"},
                                 {Kind::switch_port, "leaf3", "swp7"},
                                 {Kind::power_feed, "pdu2", "B"},
                                 {Kind::group, "rail0"}};

  for (const auto& subject : all) EXPECT_EQ(Subject::part_of("n1", part_text(subject)), subject);
  EXPECT_EQ(Subject::part_of("n1", "link:half").kind, Kind::part) << "no text of a link";
}

}  // namespace
}  // namespace cupel::inventory
