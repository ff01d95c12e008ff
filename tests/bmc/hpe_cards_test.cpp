// Cards of HPE: the devices of the chassis have their serial numbers, the System's own list their
// MACs.
#include "tests/bmc/parts_reading.h"

namespace cupel::bmc {
namespace {

/// An iLO 5: cards are in the chassis's list of devices, their ports in the System's list of cards.
class HpeCards : public PartsReading {
 protected:
  HpeCards() {
    at(kSystem)["Manufacturer"] = "HPE";
    const auto links = [&](const std::string& name, const std::string& uri) {
      return json::value{{"Hpe", {{"Links", {{name, link_to(uri)}}}}}};
    };
    at(kChassis)["Oem"] = links("Devices", kDevices);
    at(kSystem)["Oem"] = links("NetworkAdapters", kCards);
    device("1", "MT1845K05471   ");
    device("2", "B4969167D8E8");
    tree.documents[kDevices] = list_of({kDevices + "/1", kDevices + "/2"});
  }
  void device(const std::string& id, const std::string& serial) {
    tree.documents[kDevices + "/" + id] =
        json::object{{"DeviceType", "LOM/NIC"}, {"Name", "Ethernet"}, {"SerialNumber", serial}};
  }
  void card(const std::string& id, const std::string& serial, const std::string& mac) {
    json::object card{{"SerialNumber", serial}};
    card["PhysicalPorts"] = json::array(1, json::object{{"MacAddress", mac}});
    tree.documents[kCards + "/" + id] = std::move(card);
  }
  const std::string kDevices = std::string{kChassis} + "/Devices";
  const std::string kCards = std::string{kSystem} + "/BaseNetworkAdapters";
};

TEST_F(HpeCards, HaveTheMacsOfTheCardWithTheirSerialNumber) {
  card("1", "B4969167D8E8", "b4:96:91:67:d8:e8");
  card("2", "MT1845K05471          ", "98:03:9b:7f:c3:38");
  tree.documents[kCards] = list_of({kCards + "/1", kCards + "/2"});

  const auto seen = inventory();

  EXPECT_THAT(part(seen, "nic0").macs, ElementsAre("98:03:9b:7f:c3:38"));
  EXPECT_THAT(part(seen, "nic1").macs, ElementsAre("b4:96:91:67:d8:e8"));
}

TEST_F(HpeCards, ThatCannotBeReadAreNotMissing) {
  tree.documents.erase(kDevices + "/2");

  const auto seen = inventory();

  EXPECT_NE(inventory::partial_list(seen.partial, inventory::PartKind::nic), nullptr);
}

TEST_F(HpeCards, WithoutASerialNumberInTheListHaveTheMacsOfTheirSlot) {
  at(kDevices + "/1")["Location"] = "PCI-E Slot 18";
  card("1", "", "98:03:9b:7f:c3:38");
  at(kCards + "/1")["Location"] = "PCI-E Slot 18";
  tree.documents[kCards] = list_of({kCards + "/1"});

  const auto seen = inventory();

  EXPECT_THAT(part(seen, "nic0").macs, ElementsAre("98:03:9b:7f:c3:38"));
  EXPECT_THAT(part(seen, "nic1").macs, ElementsAre());
}

/// No chassis lists adapters: the System's ports stand for cards.
class PortsOfHpeCards : public HpeCards {
 protected:
  PortsOfHpeCards() {
    card("1", "MT1845K05471", "98:03:9b:7f:c3:38");
    card("2", "B4969167D8E8", "b4:96:91:67:d8:e8");
    tree.documents[kCards] = list_of({kCards + "/1", kCards + "/2"});
    add_collection(kSystem, "EthernetInterfaces", {kPorts + "/1", kPorts + "/2"});
    put(kPorts + "/1", R"({"MACAddress": "98:03:9B:7F:C3:38"})");
    put(kPorts + "/2", R"({"MACAddress": "b4-96-91-67-d8-e8"})");
  }
  std::vector<std::string> serials() {
    std::vector<std::string> found;
    for (const auto& part : inventory().parts)
      if (part.kind == inventory::PartKind::nic) found.push_back(part.name + " " + part.serial);
    return found;
  }
  const std::string kPorts = std::string{kSystem} + "/EthernetInterfaces";
};

TEST_F(PortsOfHpeCards, AreNoPartsBesideTheirCards) {
  EXPECT_THAT(serials(), ElementsAre("nic0 MT1845K05471", "nic1 B4969167D8E8"));
}

TEST_F(PortsOfHpeCards, StandForAllCardsWhereOneIsOnACardThatNoListHas) {
  tree.documents[kCards] = list_of({kCards + "/1"});

  EXPECT_THAT(serials(), ElementsAre("nic0 ", "nic1 "));
}

TEST_F(PortsOfHpeCards, StandForACardThatTheDevicesOfTheChassisLack) {
  tree.documents[kDevices] = list_of({kDevices + "/1"});

  EXPECT_THAT(serials(), ElementsAre("nic0 ", "nic1 "));
}

}  // namespace
}  // namespace cupel::bmc
