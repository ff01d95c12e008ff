// Settings that a profile wants: read, merged with those of an extended profile, and every mistake
// with its place.
#include "inventory/read_settings.h"

#include <gmock/gmock.h>

#include <fstream>

#include "inventory/load_profile.h"
#include "tests/support/captures.h"

namespace cupel::inventory {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kHead =
    "profile: mine\npower: {idle: 100, loaded: 200}\n";  // line 3 follows

struct Read {
  std::optional<Profile> profile;
  std::vector<Problem> problems;

  std::vector<std::string> problem_texts() const {
    std::vector<std::string> lines;
    for (const auto& problem : problems)
      lines.push_back(to_string(problem.where) + ": " + problem.what);
    return lines;
  }
};

Read read(const std::string& text) {
  Read all;
  all.profile = parse_profile(std::string{kHead} + text, "p.yaml", ProfileSource{"/nonexistent"},
                              all.problems);
  return all;
}

std::vector<std::string> names_of(const Profile& profile) {
  std::vector<std::string> names;
  for (const auto& one : profile.settings.portable) names.push_back(one.name + "=" + one.value);
  return names;
}

TEST(ProfileSettings, ReadsPortableNamesBootOrderAndSettingsOfTheBmc) {
  const auto all = read(
      "settings: {iommu: on, numa_per_socket: 4, secure_boot: off}\n"
      "boot_order: [pxe, disk]\n"
      "bmc:\n"
      "  ntp: [10.0.0.1, time.example.org]\n"
      "  syslog: [\"udp://10.0.0.9\", \"tls://[fd00::1]:6515\"]\n"
      "  alerts: https://10.0.0.9:8443/events\n"
      "  services: {SSH: on, IPMI: off}\n"
      "  session_timeout: 30m\n");

  ASSERT_THAT(all.problem_texts(), IsEmpty());
  const auto& settings = all.profile->settings;
  EXPECT_THAT(names_of(*all.profile),
              ElementsAre("iommu=on", "numa_per_socket=4", "secure_boot=off"));
  EXPECT_EQ(settings.portable[1].where, (Place{"p.yaml", 3, 40}));
  EXPECT_THAT(settings.boot_order, ElementsAre("pxe", "disk"));
  EXPECT_THAT(settings.bmc.ntp_servers, ElementsAre("10.0.0.1", "time.example.org"));
  EXPECT_THAT(settings.bmc.syslog, ElementsAre(SyslogServer{"udp", "10.0.0.9", 514},
                                               SyslogServer{"tls", "fd00::1", 6515}));
  EXPECT_THAT(settings.bmc.alerts, ElementsAre("https://10.0.0.9:8443/events"));
  ASSERT_EQ(settings.bmc.services.size(), 2);
  EXPECT_EQ(settings.bmc.services[1].name, "IPMI");
  EXPECT_FALSE(settings.bmc.services[1].enabled);
  EXPECT_EQ(settings.bmc.session_timeout, std::chrono::minutes{30});
}

TEST(ProfileSettings, NamesEveryMistakeWithItsPlace) {
  const auto all = read(
      "settings: {iomu: on, acs: maybe, numa_per_socket: 3}\n"
      "boot_order: [pxe, hdd, pxe]\n"
      "bmc:\n"
      "  ntp: [\"a b\"]\n"
      "  syslog: [10.0.0.9, \"udp://h:99999\"]\n"
      "  alerts: [\"https://user@h/\"]\n"
      "  services: {SHH: on, SSH: 1, HTTPS: off}\n"
      "  session_timeout: 10s\n"
      "  colour: red\n");

  EXPECT_THAT(
      all.problem_texts(),
      ElementsAre(
          "p.yaml:3:12: unknown setting 'iomu' (did you mean 'iommu'?); an attribute by the "
          "vendor's own name goes under bios",
          "p.yaml:3:27: acs must be one of on, off, not 'maybe'",
          "p.yaml:3:51: numa_per_socket must be one of 1, 2, 4, not '3'",
          "p.yaml:4:13: boot_order is a list of pxe, http, disk, cd, usb, shell, not 'hdd'",
          "p.yaml:4:13: boot_order names pxe twice",
          "p.yaml:6:8: ntp is a list of names or addresses, not 'a b'",
          "p.yaml:7:11: syslog is udp://HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT, not "
          "'10.0.0.9'",
          "p.yaml:7:11: syslog is udp://HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT, not "
          "'udp://h:99999'",
          "p.yaml:8:11: alerts is a list of https:// or http:// URLs without a user in them",
          "p.yaml:9:14: unknown service 'SHH' (did you mean 'SSH'?)",
          "p.yaml:9:28: SSH must be on or off, not '1'",
          "p.yaml:9:38: HTTPS must stay on: Redfish is spoken over it",
          "p.yaml:10:20: session_timeout must be from 30s to 1d",
          "p.yaml:11:3: unknown key 'colour' in bmc"));
}

TEST(ProfileSettings, RefusesNtpServersWhileNtpIsOff) {
  const auto all = read("bmc: {ntp: 10.0.0.1, services: {NTP: off}}\n");

  EXPECT_THAT(all.problem_texts(),
              ElementsAre("p.yaml:3:38: NTP is off, and ntp names servers: leave one of them out"));
}

TEST(ProfileSettings, ReplacesTheInheritedSettingOfTheSameName) {
  std::vector<Problem> problems;
  const test::TemporaryFolder folder;
  std::ofstream{folder.path() / "base.yaml"} << "profile: base\npower: {idle: 1, loaded: 2}\n"
                                                "settings: {iommu: on, acs: off}\n"
                                                "bmc: {ntp: a, services: {SSH: on, SNMP: off}}\n";

  const auto profile = parse_profile(
      "profile: mine\nextends: base\nsettings: {acs: on}\nbmc: {ntp: b, services: {SSH: off}}\n",
      "mine.yaml", ProfileSource{folder.path()}, problems);

  ASSERT_THAT(problems, IsEmpty());
  EXPECT_THAT(names_of(*profile), ElementsAre("iommu=on", "acs=on"));
  EXPECT_THAT(profile->settings.bmc.ntp_servers, ElementsAre("b"));
  ASSERT_EQ(profile->settings.bmc.services.size(), 2);
  EXPECT_EQ(profile->settings.bmc.services[0].name, "SNMP");
  EXPECT_FALSE(profile->settings.bmc.services[1].enabled);
}

TEST(SyslogServers, AreReadBackAsWritten) {
  for (const auto* text :
       {"udp://10.0.0.9:514", "tcp://log.example.org:1514", "tls://[fd00::1]:6514"}) {
    const auto server = syslog_server_of(text);
    ASSERT_TRUE(server) << text;
    EXPECT_EQ(to_string(*server), text);
  }
  for (const auto* text :
       {"", "udp:/x", "ftp://h:1", "udp://", "udp://h:0", "udp://[::1", "udp://h h"})
    EXPECT_FALSE(syslog_server_of(text)) << text;
}

}  // namespace
}  // namespace cupel::inventory
