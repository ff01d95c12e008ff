// Lists of assets in the words of vendors and their customers.
#include "inventory/asset_words.h"

#include <gmock/gmock.h>

#include "inventory/sheet.h"

namespace cupel::inventory {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct ListOfWords {
  std::vector<Asset> assets;
  std::string faults;
};

ListOfWords list_of(std::string_view text, const AssetListRules& rules = {}) {
  std::vector<Problem> problems;
  auto list = parse_assets(text, "assets.csv", rules, problems);
  return {std::move(list.assets), to_string(problems)};
}

TEST(AssetWords, OfHeadersAreKnownInThreeLanguagesHoweverTheyAreWritten) {
  for (const auto* text :
       {"Serial-No.;Component;Server Name\nX1;GPU;n1\n", "S/N:;Part_Type;HOSTNAME\nX1;GPU;n1\n",
        "Serial #;Type;Node\nX1;GPU;n1\n", "Serien-Nr.;Bauteil;Knoten\nX1;GPU;n1\n",
        "SERIENNUMMER;KOMPONENTE;RECHNERNAME\nX1;GPU;n1\n", "Ser.-Nr.;Typ;Server\nX1;GPU;n1\n",
        "NUM\u00C9RO DE S\u00C9RIE;TYPE DE COMPOSANT;N\u0152UD\nX1;GPU;n1\n",
        "N\u00B0 de s\u00E9rie;Composant;N\u0153ud\nX1;GPU;n1\n",
        "No. de serie;Type;Nom d'h\u00F4te\nX1;GPU;n1\n",
        "Nume\u0301ro de se\u0301rie;Type;Serveur\nX1;GPU;n1\n"}) {
    const auto [assets, faults] = list_of(text);
    ASSERT_EQ(assets.size(), 1u) << text << faults;
    EXPECT_EQ(assets[0].serial, "X1") << text;
    EXPECT_EQ(assets[0].kind, PartKind::gpu) << text;
    EXPECT_EQ(assets[0].node, "n1") << text;
  }
}

TEST(AssetWords, OfAFileInWindows1252AreKnown) {
  const auto [assets, faults] = list_of(
      "Num\xE9ro de s\xE9rie;Type;N\x9Cud\nX\xFC"
      "1;GPU;n1\n");

  ASSERT_EQ(assets.size(), 1u) << faults;
  EXPECT_EQ(assets[0].serial,
            "X\u00FC"
            "1");
  EXPECT_EQ(assets[0].node, "n1");
  EXPECT_EQ(sheet_text("\x80 5 \x96 10"), "\u20AC 5 \u2013 10");
  EXPECT_EQ(sheet_text("\u00FC\nX\xFC\n\u00FC"), "\u00FC\nX\u00FC\n\u00FC") << "a bad line";
  EXPECT_EQ(sheet_text(""), "");
}

TEST(AssetWords, OfPartsAreKnownInThreeLanguagesAlsoWithTheModelBehindThem) {
  using enum PartKind;
  for (const auto& [text, kind] :
       std::vector<std::pair<const char*, PartKind>>{{"", system},
                                                     {"Geh\u00E4use", system},
                                                     {"GRAFIKKARTEN", gpu},
                                                     {"Cartes graphiques", gpu},
                                                     {"Graphics Cards", gpu},
                                                     {"graphics processing units", gpu},
                                                     {"GPU NVIDIA H100 SXM5", gpu},
                                                     {"Grafikkarte H100", gpu},
                                                     {"Netzteil", psu},
                                                     {"Power Supply 3300W", psu},
                                                     {"power_supplies", psu},
                                                     {"Alimentation", psu},
                                                     {"Speichermodule", dimm},
                                                     {"DIMM Samsung 64GB", dimm},
                                                     {"Barrette m\u00E9moire", dimm},
                                                     {"Prozessor", cpu},
                                                     {"Processeurs", cpu},
                                                     {"L\u00FCfter", fan},
                                                     {"Luefter", fan},
                                                     {"Ventilateur", fan},
                                                     {"Netzwerkkarte", nic},
                                                     {"Carte r\u00E9seau", nic},
                                                     {"Festplatte", drive},
                                                     {"Disque dur", drive},
                                                     {"NVMe-SSD", nvme},
                                                     {"SSD 3.84TB", nvme}})
    EXPECT_EQ(asset_kind(text), kind) << text;
  for (const auto* other : {"GPU tray", "GPU tray 2", "GPU baseboard 8x H100", "Drive bay 4",
                            "Fan cage", "?", "\u2014", "Kabel", "Rack 12", "S", "CPU fan 2",
                            "GPU NVLink bridge 4", "NIC firmware 22.1", "GPU server H100"})
    EXPECT_EQ(asset_kind(other), std::nullopt) << other;
}

TEST(AssetWords, OfOneHeaderMayStandInTwoLines) {
  for (const auto* text : {"Serial;Component;Host;Slot\nNumber;Type;Name;(FRU)\nX1;GPU;n1;gpu3\n",
                           "Serien-;Bauteil;Knoten;\nnummer;;;Slot\nX1;GPU;n1;gpu3\n",
                           "Lieferschein 4711;;;\nSerial;Type;Node;Slot\nX1;GPU;n1;gpu3\n",
                           "Seriennummer;Typ;Knoten;Steckplatz\nSerial Number;Type;Node;Slot\n"
                           "X1;GPU;n1;gpu3\n"}) {
    const auto [assets, faults] = list_of(text);
    ASSERT_EQ(assets.size(), 1u) << text << faults;
    EXPECT_EQ(faults, "") << text;
    EXPECT_EQ(assets[0].kind, PartKind::gpu) << text;
    EXPECT_EQ(assets[0].node, "n1") << text;
    EXPECT_EQ(assets[0].slot, "gpu3") << text;
  }
}

TEST(AssetWords, OfTheHeaderMayStandOnEachPageAndARowWithoutASerialNumberIsNone) {
  const auto pages = list_of("Serial;Kind\nX1;gpu\nSerial;Kind\nX2;gpu\n");
  const auto placeholder = list_of("Serial;Kind\nX1;gpu\nSerial Number;gpu\n");
  const auto named = list_of("S/N;Kind\nX1;gpu\n", {.columns = {{AssetColumn::serial, "s/n"}}});

  EXPECT_EQ(pages.assets.size(), 2u) << pages.faults;
  EXPECT_THAT(placeholder.faults, HasSubstr("assets.csv:3:1: 'Serial Number' is no serial number"));
  EXPECT_EQ(named.faults, "");
}

TEST(AssetWords, ThatStandForASerialNumberAreNone) {
  for (const auto* text : {"k.A.", "k. A.", "entf\u00E4llt", "unbekannt", "N\u00C9ANT", "inconnu",
                           "tbc", "?", "\u2014"})
    EXPECT_THAT(list_of(std::string{"Serial;Kind\n"} + text + ";gpu\n").faults,
                HasSubstr("is no serial number"))
        << text;
  for (const auto* text : {"K4A", "ND1", "1652923033635"})
    EXPECT_THAT(list_of(std::string{"Serial;Kind\n"} + text + ";gpu\n").faults, IsEmpty()) << text;
}

}  // namespace
}  // namespace cupel::inventory
