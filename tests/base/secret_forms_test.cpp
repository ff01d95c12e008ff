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
                           R"({"auth":"hunter2"})",
                           "snmpwalk -v2c -c hunter2 h",
                           "client-secret: hunter2",
                           "IPMI_PASSWORD=hunter2 ipmitool -E"})
    EXPECT_THAT(without_secrets(text), Not(HasSubstr("hunter2"))) << text;
}

TEST(WithoutSecrets, LeavesWhatAVendorReads) {
  for (const std::string text :
       {"sd 0:0:0:0: [sda] Sense Key : Medium Error [current]", "ssh -p 22 host",
        R"("tokens": 1234.5,)", R"({"train.tokens":{"value":9.25},"x":1})",
        "NVRM: Xid (PCI:0000:1b:00): 79, pid=1, GPU has "
        "fallen off the bus.",
        "password authentication failed", "$1 of 3", "a://b"})
    EXPECT_EQ(without_secrets(text), text);
}

/// A line of a node may be as long as all of its output.
TEST(WithoutSecrets, ReadsEachByteOnce) {
  constexpr int kTimes = 400'000;
  std::string names, keys, uris;
  for (int i = 0; i < kTimes; ++i) {
    names += "token=\"x\" ";
    keys += "-----BEGIN PRIVATE KEY-----x-----END PRIVATE KEY-----";
    uris += "://";
  }

  EXPECT_EQ(without_secrets(keys).size(), kTimes * 3u);
  EXPECT_EQ(without_secrets(uris), uris);
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
