// `cupel doctor` against a virtual rack: what it finds on this machine, and what it says of a BMC,
// a name and a state folder that are wrong.
#include "base/json.h"
#include "tests/e2e/rack_site.h"

namespace cupel::testing {
namespace {

using ::testing::Contains;

class DoctorTest : public ::testing::Test {
 protected:
  struct Examined {
    int status = 0;
    std::map<std::string, json::object> checks;  // by what they are about

    std::string level(const std::string& about) const {
      const auto found = checks.find(about);
      return found == checks.end() ? "not checked"
                                   : text_at(found->second, "level").value_or("no level");
    }
    std::string found(const std::string& about) const {
      return text_at(checks.at(about), "found").value_or("");
    }
    std::string advice(const std::string& about) const {
      return text_at(checks.at(about), "advice").value_or("");
    }
  };

  Examined examine(std::vector<std::string> more = {}) {
    std::vector<std::string> words{"doctor", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const auto ran = site.run(std::move(words));
    Examined examined{ran.status, {}};
    const auto document = parse_json(ran.out).value();
    for (const auto& each : document.at("checks").as_array())
      examined.checks[std::string{each.at("about").as_string()}] = each.as_object();
    return examined;
  }

  RackSite site{{.network = 97, .ports = "bmc: 0, ssh: 0"}};
};

TEST_F(DoctorTest, FindsTheProgramsTheInventoryAndABmcThatAnswers) {
  std::filesystem::create_directory(site.file("programs"));
  for (const auto* program : {"cupel-node", "cupel-sim"})
    site.write(std::string{"programs/"} + program, "#!/bin/sh\n");

  const auto examined = examine({"--programs", site.file("programs")});

  EXPECT_EQ(examined.level("cupel-node"), "ok");
  EXPECT_EQ(examined.level("cupel-sim"), "ok");
  EXPECT_EQ(examined.level("store"), "ok");
  EXPECT_EQ(examined.level("inventory"), "ok");
  EXPECT_EQ(examined.level("names"), "ok");
  EXPECT_EQ(examined.level("open files"), "ok");
  EXPECT_EQ(examined.level("BMC of v01-n01"), "ok");
  EXPECT_THAT(examined.found("BMC of v01-n01"), HasSubstr("redfish"));
}

TEST_F(DoctorTest, NamesABmcThatDoesNotAnswerAndAnUnknownName) {
  site.change_inventory("127.97.1.1", "no-such-bmc.invalid");

  const auto examined = examine();

  EXPECT_EQ(examined.status, 1);
  EXPECT_EQ(examined.level("names"), "failure");
  EXPECT_THAT(examined.found("names"), HasSubstr("no-such-bmc.invalid"));
  EXPECT_EQ(examined.level("BMC of v01-n01"), "failure");
  EXPECT_THAT(examined.advice("BMC of v01-n01"), HasSubstr("cupel bmc v01-n01 power"));
  EXPECT_EQ(examine({"--node", "v01-n02"}).level("BMC of v01-n02"), "ok");
}

TEST_F(DoctorTest, NamesTheNodesThatSlurmDoesNotKnowAndWhoMayChangeThem) {
  site.change_inventory("site: rehearsal", "site: rehearsal\nslurm: {partition: gpu}");
  std::filesystem::create_directory(site.file("tools"));
  site.write("tools/scontrol",
             "#!/bin/sh\ncase \"$*\" in\n  ping) echo 'Slurmctld(primary) at here is UP' ;;\n"
             "  *'show node') echo 'NodeName=v01-n01 State=IDLE' ;;\n"
             "  *) echo 'SlurmUser = slurm(64030)' ;;\nesac\n",
             0755);
  const auto path = site.file("tools") + ":" + std::getenv("PATH");

  const auto ran = run({"sh", "-c",
                        "PATH='" + path + "' && cd '" + site.file("") + "' && '" + CUPEL_BINARY +
                            "' --state '" + site.file("state") + "' doctor --json"});

  EXPECT_THAT(ran.out, HasSubstr("Slurm does not know 1 of 2: v01-n02")) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("cupel slurm conf"));
  EXPECT_THAT(ran.out, HasSubstr("\"about\":\"Slurm rights\""));
}

TEST_F(DoctorTest, NamesAStateFolderThatCannotBeRead) {
  std::filesystem::create_directories(site.file("state"));
  site.write("state/cupel.db", "not a database, whatever its name says");

  const auto examined = examine();

  EXPECT_EQ(examined.status, 1);
  EXPECT_EQ(examined.level("store"), "failure");
  EXPECT_THAT(examined.advice("store"), HasSubstr("cupel store verify"));
}

TEST_F(DoctorTest, CountsOnAllTheOpenFilesThatTheSystemAllows) {
  const auto ran = run({"sh", "-c",
                        "ulimit -Sn 64 && ulimit -Hn 900 && cd '" + site.file("") + "' && '" +
                            CUPEL_BINARY + "' --state '" + site.file("state") + "' doctor --json"});

  EXPECT_THAT(ran.out, HasSubstr("900 may be open (hard limit 900)")) << ran.err;
}

TEST_F(DoctorTest, RefusesANodeThatTheInventoryDoesNotHave) {
  const auto ran = site.run({"doctor", "--node", "v09-n01"});

  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("v09-n01"));
}

}  // namespace
}  // namespace cupel::testing
