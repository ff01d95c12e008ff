// Whether a machine is the one that is expected, and who it is where it is not.
#include "orchestrator/netboot/identity.h"

#include <gmock/gmock.h>

#include "base/json.h"

namespace cupel::netboot {
namespace {

const std::vector<ExpectedMachine> kAll{
    {.node = "n1",
     .serial = "S1",
     .uuid = "00112233-4455-6677-8899-aabbccddeeff",
     .macs = {"52:54:00:AA:00:01", "52:54:00:aa:01:01"},
     .arch = "x86_64"},
    {.node = "n2", .serial = "S2", .macs = {"52:54:00:aa:00:02"}, .arch = "x86_64"},
    {.node = "n3", .macs = {"52:54:00:aa:00:03"}}};

std::string cause(const std::string& hello, const ExpectedMachine& expected = kAll[0],
                  bool by_dhcp = false) {
  const auto body = parse_json(hello).value();
  const auto machine = parse_identity(body.as_object());
  if (!machine) return machine.error().what;
  const auto refusal = mismatch(*machine, expected, kAll, by_dhcp);
  return refusal ? refusal->cause : "";
}

TEST(BootIdentity, TheMachineOfTheInventoryIsTaken) {
  EXPECT_EQ(cause(R"({"arch":"x86_64","serial":" s1 ","macs":["52-54-00-AA-00-01"]})"), "");
  EXPECT_EQ(cause(R"({"serial":"S1","macs":["52:54:00:aa:01:01","02:00:00:00:00:01"],
                      "uuid":"00112233-4455-6677-8899-AABBCCDDEEFF"})"),
            "");
}

TEST(BootIdentity, AUuidMayHaveItsFirstFieldsInEitherOrder) {
  EXPECT_EQ(cause(R"({"serial":"S1","macs":["52:54:00:aa:00:01"],
                      "uuid":"33221100-5544-7766-8899-aabbccddeeff"})"),
            "");
  EXPECT_EQ(cause(R"({"serial":"S1","macs":["52:54:00:aa:00:01"],
                      "uuid":"33221100-5544-7766-8899-aabbccddee00"})"),
            "wrong-uuid");
}

TEST(BootIdentity, WhatDiffersIsTheCause) {
  EXPECT_EQ(cause(R"({"arch":"aarch64","serial":"S1"})"), "wrong-arch");
  EXPECT_EQ(cause(R"({"serial":"S9","macs":["52:54:00:aa:00:01"]})"), "wrong-serial");
  EXPECT_EQ(cause(R"({"serial":"S1","macs":["52:54:00:aa:00:09"]})"), "wrong-mac");
  EXPECT_EQ(cause(R"({"serial":"S2","macs":["52:54:00:aa:00:02"]})"), "swapped");
  EXPECT_EQ(cause(R"({"serial":"S9","macs":["52:54:00:aa:00:03"]})"), "swapped");
}

TEST(BootIdentity, AFillingOfTheFirmwareIsNoSerialNumber) {
  EXPECT_EQ(cause(R"({"serial":"To Be Filled By O.E.M.","macs":["52:54:00:aa:00:01"]})"), "");
  EXPECT_EQ(cause(R"({"serial":"Not Specified","macs":[]})"), "wrong-mac");
  for (const auto* none : {"N/A", "Unknown", "0000000000", "Chassis Serial Number", "1234567890"})
    EXPECT_EQ(cause(R"({"serial":")" + std::string{none} + R"(","macs":["52:54:00:aa:00:01"]})"),
              "")
        << none;
}

TEST(BootIdentity, ATicketFoundByDhcpWantsAMacAddressOfTheInventory) {
  const ExpectedMachine unknown{.node = "n4"};
  EXPECT_EQ(cause(R"({"serial":"S4","ticket_from":"cmdline"})", unknown), "");
  EXPECT_EQ(cause(R"({"serial":"S4","ticket_from":"dhcp"})", unknown), "unproven");
  EXPECT_EQ(cause(R"({"ticket_from":"dhcp","macs":["52:54:00:aa:00:03"]})", kAll[2]), "");
}

TEST(BootIdentity, AMacAddressAloneIsNoProofWhereTheTicketWentToWhoeverAskedWithIt) {
  const std::string mac = R"("macs":["52:54:00:aa:00:01"])";
  EXPECT_EQ(cause("{" + mac + "}", kAll[0], true), "unproven");
  EXPECT_EQ(
      cause("{" + mac + R"(,"serial":"default string","ticket_from":"cmdline"})", kAll[0], true),
      "unproven");
  EXPECT_EQ(cause("{" + mac + R"(,"serial":"S1"})", kAll[0], true), "");
  EXPECT_EQ(cause("{" + mac + R"(,"uuid":"00112233-4455-6677-8899-aabbccddeeff"})", kAll[0], true),
            "");
  EXPECT_EQ(cause(R"({"macs":["52:54:00:aa:00:03"]})", kAll[2], true), "");
}

TEST(BootIdentity, MachinesWithOneMacDifferByTheirUuidWhereTheyHaveNoSerial) {
  const Identity one{.uuid = "00112233-4455-6677-8899-aabbccddeeff", .macs = {"52:54:00:aa:00:01"}};
  auto twin = one;
  twin.uuid = "ffffffff-4455-6677-8899-aabbccddeeff";
  auto in_other_order = one;
  in_other_order.uuid = "33221100-5544-7766-8899-aabbccddeeff";

  EXPECT_FALSE(one.may_be(twin));
  EXPECT_TRUE(one.may_be(in_other_order));
  EXPECT_EQ(one.shared_mac(twin), "52:54:00:aa:00:01");
}

TEST(BootIdentity, HostileFieldsAreRefused) {
  EXPECT_THAT(cause(R"({"serial":["S1"]})"), ::testing::HasSubstr("\"serial\" is no text"));
  EXPECT_THAT(cause("{\"serial\":\"" + std::string(200, 'x') + "\"}"),
              ::testing::HasSubstr("at most 128 bytes"));
  EXPECT_THAT(cause(R"({"macs":[1]})"), ::testing::HasSubstr("no list of MAC addresses"));
}

}  // namespace
}  // namespace cupel::netboot
