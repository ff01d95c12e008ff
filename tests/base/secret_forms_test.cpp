// Secrets that are taken out of a text, by their form and by their value.
#include "base/secret_forms.h"

#include <gmock/gmock.h>

namespace cupel {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Forms in which command lines, files and messages of nodes have them.
TEST(WithoutSecrets, TakesOutTheUsualForms) {
  for (const auto* text : {"--password hunter2",
                           "password hunter2",
                           "ipmitool -U admin -P hunter2 power",
                           "ipmitool -I lanplus -P 'hunter2 two' power",
                           "pwd=hunter2",
                           "PASS=hunter2",
                           "pass: hunter2",
                           "AWS_SECRET_ACCESS_KEY=hunter2",
                           "secret_key = hunter2",
                           "X-Auth-Token: hunter2",
                           "Cookie: session=hunter2",
                           "https://h/x?access_token=hunter2&a=1",
                           "psk=\"hunter2\"",
                           "snmp community hunter2",
                           "key: hunter2",
                           "BMC_PW=hunter2",
                           "MYSQL_PWD=hunter2",
                           "<Password>hunter2</Password>",
                           "password:\n  hunter2",
                           "password:\n\n  hunter2",
                           "curl -u admin:hunter2 https://x",
                           "root:$6$abc$hunter2hash:19000:0:99999:7:::",
                           "ssh_passwd  => hunter2",
                           "PASSWORD\t\thunter2",
                           R"({"UserName":"a","Password":"hunter2"})",
                           R"({"Password":"a\"hunter2"})",
                           "sshpass -p hunter2 ssh x",
                           "sshpass -phunter2 ssh x",
                           "ipmitool -U admin -Phunter2 power",
                           "curl -uadmin:hunter2 https://x",
                           "curl --user admin:hunter2 https://x",
                           "curl --proxy-user 'admin:hunter2' https://x",
                           "sent Bearer hunter2 to it",
                           "token \"hunter2\"",
                           "x \"token\" \"a hunter2\"",
                           R"({"auth":"hunter2"})",
                           "snmpwalk -v2c -c hunter2 h",
                           "client-secret: hunter2",
                           "IPMI_PASSWORD=hunter2 ipmitool -E",
                           "Passwort: hunter2",
                           "Kennwort=hunter2",
                           "mot de passe : hunter2",
                           "Password for root: hunter2",
                           "Password for user 'a' on n1: hunter2",
                           "the new password is hunter2",
                           R"({\"Password\":\"hunter2\",\"x\":1})",
                           R"({\"Password\":\"a\\\"hunter2\"})",
                           "password: |\n  hunter2",
                           "password: >-\n\n  hunter2",
                           "ipmitool --password \\\n  hunter2 power",
                           "ipmitool -U admin -P \\\n  hunter2 power",
                           "--password\nhunter2",
                           R"(["ipmitool", "-P", "hunter2"])",
                           R"([\"ipmitool\",\"-P\",\"hunter2\"])",
                           "['curl', '--user', 'admin:hunter2']",
                           "['x', '--password', 'hunter2']",
                           R"(a0="ipmitool" a1="-P" a2="hunter2" a3="power")",
                           "racadm -r h -u root -p hunter2",
                           "mysql -phunter2",
                           "redfishtool -u root -p hunter2",
                           "snmpget -v3 -a SHA -A hunter2 -x AES -X hunter2 h",
                           "ldapsearch -w hunter2 -x",
                           "onecli --bmc admin:hunter2@10.0.0.1",
                           "echo hunter2 | sudo -S reboot",
                           "echo root:hunter2 | chpasswd",
                           "AccountKey=hunter2;x",
                           "rwcommunity hunter2",
                           "password%3Dhunter2&x",
                           "<Password type=\"x\">hunter2 two</Password>",
                           "<wsse:Password Type=\"x\">hunter2</wsse:Password>",
                           "<credential user=\"a\" password=\"hunter2\">x</credential>",
                           "<Password><![CDATA[hunter2]]></Password>",
                           "header.eyJhbGciOiJIUzI1NiJ9hunter2.eyJhunter2.hunter2 x",
                           "pushed by ghp_0123456789abcdefhunter2"})
    EXPECT_THAT(without_secrets(text), Not(HasSubstr("hunter2"))) << text;
}

TEST(WithoutSecrets, LeavesWhatAVendorReads) {
  for (const std::string text : {"sd 0:0:0:0: [sda] Sense Key : Medium Error [current]",
                                 "ssh -p 22 host",
                                 R"("tokens": 1234.5,)",
                                 R"({"train.tokens":{"value":9.25},"x":1})",
                                 "NVRM: Xid (PCI:0000:1b:00): 79, pid=1, GPU has "
                                 "fallen off the bus.",
                                 "password authentication failed",
                                 "$1 of 3",
                                 "a://b",
                                 "Failed password for root from 10.0.0.1 port 22 ssh2",
                                 "the password is wrong",
                                 "Failed password for root from fe80::1 port 22 ssh2: closed",
                                 "auth to 10.0.0.5 failed",
                                 "the first pass was 12.5 GB/s",
                                 "pass of gpu 3: 812 GB/s",
                                 "no token for user alice; burn failed: GPU 3",
                                 "sudo -u root nvidia-smi -pm 1 -pl 300",
                                 "openssl req -newkey rsa:2048 -keyout k.pem",
                                 "psu0 <status ok> x",
                                 "echo 1 > /sys/x",
                                 "eyJ"})
    EXPECT_EQ(without_secrets(text), text);
}

/// A line of a node may be as long as all of its output.
TEST(WithoutSecrets, ReadsEachByteOnce) {
  constexpr int kTimes = 400'000;
  std::string names, keys, uris, tags;
  for (int i = 0; i < kTimes; ++i) {
    names += "token=\"x\" ";
    keys += "-----BEGIN PRIVATE KEY-----x-----END PRIVATE KEY-----";
    uris += "://";
    tags += "<token for \\";
  }

  EXPECT_EQ(without_secrets(keys).size(), kTimes * 3u);
  EXPECT_EQ(without_secrets(uris), uris);
  EXPECT_EQ(without_secrets(tags), tags);
  EXPECT_THAT(without_secrets(names), Not(HasSubstr("x")));
}

TEST(WithoutSecrets, TakesOutWhatStandsBehindTheWordsForThem) {
  for (const auto& [text, left] : std::vector<std::pair<std::string, std::string>>{
           {"password: hunter22", "password: ***"},
           {R"({"Password": "a b", "x": 1})", R"({"Password": ***, "x": 1})"},
           {"SNMP community = public2", "SNMP community = ***"},
           {"Authorization: Basic YWRtaW4=", "Authorization: ***"},
           {"curl https://admin:pw@10.0.0.1/x", "curl https://***@10.0.0.1/x"},
           {"token ring is up", "token ring is up"},
           {"the password is wrong", "the password is wrong"},
           {"a\npasswd=x\nb", "a\npasswd=***\nb"},
           {R"({"Password":"a\\","x":1})", R"({"Password":***,"x":1})"},
           {R"(<Password type="x">y</Password><Slot>3</Slot>)",
            R"(<Password type="x">***</Password><Slot>3</Slot>)"},
           {R"(["ipmitool", "-P", "x", "power"])", R"(["ipmitool", "-P", ***, "power"])"},
           {"password: |\n  x\nslot: 3", "password: |\n  ***\nslot: 3"},
           {" token: >-\n  x\n\n   y\n  z\n slot: 3",
            " token: >-\n  ***\n\n   ***\n  ***\n slot: 3"},
           {"  pin: |\n  x\n  slot: 3", "  pin: |\n  ***\n  slot: 3"},
           {"-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----\nx",
            "***\nx"},
           {"-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
            "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----"}})
    EXPECT_EQ(without_secrets(text), left);
  EXPECT_EQ(
      without_secrets("it says open sesame here", std::vector<std::string>{"open sesame", "it"}),
      "it says *** here");
}

TEST(WithoutKnown, TakesOutTheLongestFirstAndShortOnesToo) {
  const std::vector<std::string> known{"s3cret", "", "s3cret-value", "pin"};

  EXPECT_EQ(without_known("s3cret-value, s3cret, pins3cret", known), "***, ***, ******");
  EXPECT_EQ(without_known("", known), "");
  EXPECT_EQ(without_secrets("s3cret-value and s3cret", known), "*** and ***");
}

}  // namespace
}  // namespace cupel
