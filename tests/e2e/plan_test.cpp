// `cupel plan` on a site with a power tree: when what happens, what it draws, and what never can.
#include <fmt/format.h>

#include "tests/e2e/site.h"

namespace cupel::testing {
namespace {

constexpr const char* kSoak = R"(playbook: soak
steps:
  - step: ssh-wait
  - stage: cpu-memory
    with: {duration: 1h, memory: 16MiB}
  - step: verdict
)";

class PlanTest : public ::testing::Test {
 protected:
  void SetUp() override { CUPEL_NEEDS_SITE(); }

  /// Four nodes of 100 W idle and 200 W loaded on one breaker of so many watts.
  static std::unique_ptr<Site> site_with_breaker(int watts) {
    auto site = std::make_unique<Site>(1, Site::Slurm::none);
    const auto access = site->sshd->access();
    site->write("soak.yaml", kSoak);
    site->write("inventory.yaml",
                fmt::format("site: powered\n"
                            "racks:\n"
                            "  - name: r1\n"
                            "    units: 48\n"
                            "    pdus: [{{name: p1, watts: 5000, breakers: [{{name: b1, watts: "
                            "{}}}]}}]\n"
                            "defaults:\n"
                            "  profile: lab\n"
                            "  bmc: {{user: admin, password: \"env:E2E_PASSWORD\"}}\n"
                            "  ssh: {{user: {}, key: \"{}\"}}\n"
                            "nodes:\n"
                            "  - name: r1-n[01-04]\n"
                            "    rack: r1\n"
                            "    unit: \"[1-4]\"\n"
                            "    breaker: p1/b1\n"
                            "    bmc: {{address: \"127.70.8.[1-4]\"}}\n"
                            "    ssh: {{address: \"127.70.9.[1-4]\"}}\n",
                            watts, access.user, access.key_file));
    return site;
  }
};

TEST_F(PlanTest, DrawsTheTimeLineAndThePowerAndNamesWhatHoldsTheRunUp) {
  const auto site = site_with_breaker(650);

  const auto ran = site->run({"plan", "soak.yaml"});

  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("soak: 12 steps on 4 nodes"), HasSubstr("time line"),
                             HasSubstr("power of "), HasSubstr("###"), HasSubstr("peaks")));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("held up by "), HasSubstr("breaker r1/p1/b1")));
}

TEST_F(PlanTest, OrdersAndTrimsLoadsByWhatTheyShowForTheirTime) {
  const auto site = site_with_breaker(650);

  const auto shown = site->run({"plan", "soak.yaml", "--prefer", "coverage"});
  const auto json = site->run({"plan", "soak.yaml", "--prefer", "time", "--json"});
  const auto written = site->run({"plan", "soak.yaml", "--prefer", "coverage", "--as-playbook"});
  site->write("trimmed.yaml", written.out);
  const auto checked = site->run({"playbook", "check", "trimmed.yaml"});

  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("time line"), HasSubstr("of 100 parts that fail"),
                               HasSubstr("0.0 escape by what is left out")));
  const auto reported = parse_json(json.out);
  ASSERT_TRUE(reported) << json.out << json.err;
  const auto& steps = reported->at("preference").at("steps").as_array();
  ASSERT_EQ(steps.size(), 1);
  EXPECT_EQ(steps[0].at("step").as_string(), "cpu-memory");
  EXPECT_GT(reported->at("preference").at("whole").to_number<double>(), 0);
  EXPECT_EQ(written.status, 0) << written.err;
  EXPECT_THAT(written.out, HasSubstr("\"stage\":\"cpu-memory\""));
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_NE(site->run({"plan", "soak.yaml", "--as-playbook"}).status, 0) << "of no preference";
}

TEST_F(PlanTest, TellsProgramsTheSame) {
  const auto site = site_with_breaker(650);

  const auto ran = site->run({"plan", "soak.yaml", "--json"});

  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto reported = parse_json(ran.out);
  ASSERT_TRUE(reported) << ran.out;
  const auto& forecast = reported->at("forecast").as_object();
  EXPECT_EQ(forecast.at("time_line").as_array().size(), 3u);
  EXPECT_TRUE(forecast.at("never").as_array().empty());
  EXPECT_GE(forecast.at("end_s").as_int64(), 2 * 3600) << "four soaks of an hour, not all at once";
  for (const auto& level : forecast.at("power").as_array()) {
    const auto* limit = level.as_object().if_contains("limit_watts");
    if (limit == nullptr) continue;
    EXPECT_LE(level.at("peak_watts").to_number<double>(), limit->to_number<double>()) << level;
  }
}

TEST_F(PlanTest, WhatASiteHasIsListed) {
  const auto site = site_with_breaker(650);

  const auto nodes = site->run({"inventory", "list", "all,!r1-n02", "--json"});
  const auto table = site->run({"inventory", "list"});
  const auto none = site->run({"inventory", "list", "r1-n9"});
  const auto profiles = site->run({"profile", "list", "--json"});
  const auto checked = site->run({"inventory", "check", "-i", "inventory.yaml"});

  EXPECT_THAT(nodes.out, AllOf(HasSubstr("r1-n01"), Not(HasSubstr("r1-n02")),
                               HasSubstr("127.70.8.1:443"), HasSubstr("\"unit\":4")));
  EXPECT_THAT(table.out, AllOf(HasSubstr("r1-n04"), HasSubstr("lab")));
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(profiles.out, AllOf(HasSubstr("profiles/lab.yaml"), HasSubstr("\"dgx-h100\"")));
  EXPECT_EQ(checked.status, 0) << checked.err;
}

class ImagePlan : public PlanTest {
 protected:
  void SetUp() override {
    PlanTest::SetUp();
    if (IsSkipped()) return;
    site_ = site_with_breaker(650);
    site_->write("inventory.yaml",
                 site_->read("inventory.yaml") + "boot: {serve: \"127.0.0.1:8081\"}\n");
  }
  /// The profile's image in the state folder's store, written by that RAM system.
  void put_images(std::string_view ram, std::string_view more_of_disk = "") const {
    put_image("ram", "ram.efi", fmt::format("\"kind\":\"ram\",\"ram\":{}", ram));
    put_image("debian", "disk.raw.zst",
              R"("kind":"disk","content":{"size":4096},"compression":"zstd")" +
                  std::string{more_of_disk});
  }
  void set_os(std::string_view more) const {
    site_->write("profiles/lab.yaml", fmt::format("{}os: {{image: debian, sha256: {}{}}}\n",
                                                  kProfile, std::string(64, 'a'), more));
  }
  std::unique_ptr<Site> site_;

 private:
  void put_image(const std::string& name, const std::string& file, const std::string& more) const {
    const auto folder = site_->folder / "state/images" / name;
    std::filesystem::create_directories(folder);
    site_->write("state/images/" + name + "/" + file, "x");
    site_->write("state/images/" + name + "/manifest.json",
                 fmt::format(R"({{"cupel_image":1,"name":"{}","arch":"x86_64","made":"",)"
                             R"("files":[{{"name":"{}","sha256":"{}","size":1}}],{}}})",
                             name, file, std::string(64, 'a'), more));
  }
};

TEST_F(ImagePlan, SaysWhatAnImageWithoutASeedCannotProve) {
  put_images("{}");
  set_os(", seed: no, grow: no");

  const auto ran = site_->run({"plan", "os"});
  set_os("");
  const auto plain = site_->run({"plan", "os"});

  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("OS image debian on 4 nodes without a seed: "));
  EXPECT_THAT(ran.out, HasSubstr("OS image debian on 4 nodes is not grown"));
  EXPECT_EQ(plain.status, 0) << plain.err;
  EXPECT_THAT(plain.out, Not(HasSubstr("without a seed")));
}

TEST_F(ImagePlan, RefusesARamSystemThatWouldNotObeyTheBootServer) {
  put_images(R"({"https_only":true})");
  set_os("");

  const auto ran = site_->run({"plan", "os"});
  const auto checked = site_->run({"inventory", "check", "-i", "inventory.yaml"});
  put_images("{}");
  const auto plain = site_->run({"inventory", "check", "-i", "inventory.yaml"});

  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("RAM system ram was built with --ca and takes boot tickets by "
                                 "https alone"));
  EXPECT_EQ(checked.status, 2);
  EXPECT_THAT(checked.err, HasSubstr("inventory.yaml:17:7: RAM system ram was built with --ca"));
  EXPECT_EQ(plain.status, 0) << plain.err;
}

TEST_F(ImagePlan, RefusesAnImageWithoutAPlaceForTheSeedThatItIsToHave) {
  put_images("{}", R"(,"seed":{"none_since":"its /etc/fstab mounts UUID=2 at /var"})");
  set_os("");

  const auto ran = site_->run({"plan", "os"});
  const auto checked = site_->run({"inventory", "check", "-i", "inventory.yaml"});
  set_os(", seed: no");
  const auto without = site_->run({"plan", "os"});

  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("image debian has no place for a seed: its /etc/fstab mounts "
                                 "UUID=2 at /var"));
  EXPECT_EQ(checked.status, 2);
  EXPECT_THAT(checked.err, HasSubstr("inventory.yaml:17:7: image debian has no place"));
  EXPECT_EQ(without.status, 0) << without.err;
}

TEST_F(ImagePlan, RefusesARamSystemThatWasBuiltForAnotherBootServer) {
  put_images(R"({"boot_host":"10.0.0.9"})");
  set_os("");

  const auto ran = site_->run({"plan", "os"});
  const auto checked = site_->run({"inventory", "check", "-i", "inventory.yaml"});
  put_images(R"({"boot_host":"127.0.0.1"})");
  const auto ours = site_->run({"inventory", "check", "-i", "inventory.yaml"});

  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("RAM system ram was built for the boot server 10.0.0.9"));
  EXPECT_EQ(checked.status, 2);
  EXPECT_THAT(checked.err, HasSubstr("inventory.yaml:17:7: RAM system ram was built for"));
  EXPECT_EQ(ours.status, 0) << ours.err;
}

TEST_F(PlanTest, RefusesWhatCanNeverBegin) {
  const auto site = site_with_breaker(450);

  const auto ran = site->run({"plan", "soak.yaml"});

  EXPECT_EQ(ran.status, 2) << ran.out;
  EXPECT_THAT(ran.err, AllOf(HasSubstr("this plan can never be done"),
                             HasSubstr("cpu-memory can never begin on r1-n04: r1-n04 needs "
                                       "0.2 kW besides 0.3 kW of 3 idle nodes, breaker "
                                       "r1/p1/b1 carries 0.5 kW")))
      << ran.out;
}

}  // namespace
}  // namespace cupel::testing
