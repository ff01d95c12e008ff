// The site's cloud-config: what is read and refused, how the layers become one, and what stands for
// a node.
#include "inventory/user_data.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "inventory/check_files.h"
#include "inventory/load.h"
#include "inventory/load_profile.h"
#include "inventory/model.h"
#include "inventory/node_network.h"

namespace cupel::inventory {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

std::vector<std::string> problem_texts(const std::vector<Problem>& problems) {
  std::vector<std::string> lines;
  for (const auto& problem : problems)
    lines.push_back(to_string(problem.where) + ": " + problem.what);
  return lines;
}

/// `os:` of some place, as `text` has it.
std::shared_ptr<const UserData> layer(std::string_view text, const std::string& file = "a.yaml") {
  std::vector<Problem> problems;
  const auto document = parse_yaml(text, file, problems);
  EXPECT_TRUE(document) << to_string(problems);
  auto data = read_os(&document->root, "/srv", file, problems);
  EXPECT_THAT(problem_texts(problems), IsEmpty());
  return data;
}

Inventory site_of(Node node) {
  Inventory inventory;
  inventory.profiles["p"].name = "p";
  node.name = "n1";
  node.profile = "p";
  inventory.nodes = {std::move(node)};
  return inventory;
}

std::vector<std::string> checked(const Inventory& inventory) {
  std::vector<Problem> problems;
  check_user_data(inventory, problems);
  return problem_texts(problems);
}

constexpr std::string_view kBefore =
    "site: lab\n"
    "racks:\n"
    "  - name: a01\n"
    "    os: {user_data: {packages: [mdadm], ntp: {enabled: no}}}\n"
    "defaults:\n"
    "  profile: cpu-server\n"
    "  bmc: {user: admin, password: \"env:P\", tls: {trust: first-use}}\n"
    "  os: {user_data: {packages: [chrony], ntp: {servers: [10.0.0.2], enabled: yes}, timezone: "
    "UTC}}\n"
    "nodes:\n"
    "  - name: n1\n"
    "    rack: a01\n"
    "    serial: S1\n"
    "    bmc: {address: 10.0.1.1}\n"
    "    ssh: {address: 10.0.2.1}\n"
    "    boot: {macs: \"52:54:00:00:00:01\", address: 10.0.2.1/24}\n"
    "    os:\n"
    "      user_data:\n";

Loaded load(const std::string& of_node) {
  return parse_inventory(std::string{kBefore} + of_node, "i.yaml", "/srv");
}

TEST(UserData, OfSiteRackAndNodeBecomesOneWithTheNodesValues) {
  const auto loaded = load(
      "        timezone: ~\n"
      "        locale: \"1\"\n"
      "        write_files:\n"
      "          - path: /etc/x\n"
      "            permissions: 0644\n"
      "            content: '{{node}} {{rack}} {{ address }} {{serial}} {{mac}} {{site}} "
      "{{profile}} "
      "{{\"{{\"}}.Names}}'\n");
  ASSERT_THAT(problem_texts(loaded.problems), IsEmpty());
  const auto& node = loaded.inventory->nodes.front();
  std::vector<Problem> problems;

  const auto config = cloud_config(merged(user_data_of(*loaded.inventory, node), problems),
                                   {.variables = variables_of(*loaded.inventory, node)});

  EXPECT_THAT(problem_texts(problems), IsEmpty());
  EXPECT_EQ(json::value(config), parse_json(R"({
    "packages": ["chrony", "mdadm"],
    "ntp": {"servers": ["10.0.0.2"], "enabled": false},
    "locale": "1",
    "write_files": [{"path": "/etc/x", "permissions": 420,
      "content": "n1 a01 10.0.2.1 S1 52:54:00:00:00:01 lab cpu-server {{.Names}}"}]})")
                                     .value());
}

TEST(UserData, ListsAllMistakesAtOnceWithTheirPlaces) {
  const auto loaded = load(
      "        hostname: x\n"
      "        runcmd: echo\n"
      "        write_files:\n"
      "          - {path: /var/lib/cupel/home, content: x}\n"
      "        a: \"{{nod}}\"\n"
      "        b: \"{{node\"\n"
      "        c: 1.5\n"
      "        d: '{{secret \"pass\"}}'\n"
      "        \"{{e}}\": x\n"
      "        ntp: [x]\n");

  EXPECT_FALSE(loaded.inventory);
  EXPECT_THAT(
      problem_texts(loaded.problems),
      UnorderedElementsAre(
          "i.yaml:18:9: user_data cannot set hostname: the system's name is the node's (host_name)",
          "i.yaml:19:17: runcmd of user_data must be a list",
          "i.yaml:21:20: user_data cannot write /var/lib/cupel/home: what is in /var/lib/cupel/ is "
          "Cupel's",
          AllOf(StartsWith("i.yaml:22:12: line 1 of the text: 'nod' between two braces is no "
                           "variable (did you mean 'node'?): there are node, site, "),
                HasSubstr("two braces that stand for themselves are {{\"{{\"}}")),
          "i.yaml:23:12: line 1 of the text: nothing closes '{{': a variable is {{node}}, and two "
          "braces that stand for themselves are {{\"{{\"}}",
          "i.yaml:24:12: '1.5' would arrive as another value: put it in quotes",
          "i.yaml:25:12: secret names file:PATH, env:NAME or cmd:COMMAND, not 'pass'",
          "i.yaml:26:9: a key of user_data takes no variables",
          "i.yaml:27:14: ntp of user_data is a list here, and a map where it is set before"));
}

TEST(UserData, NamesTheFilesOfItsSecretsAndTakesTheirValues) {
  const auto data =
      layer("user_data: {a: '<{{secret \"file:token\"}}>', b: '{{\"{{\"}}{{secret \"env:T\"}}'}");
  ASSERT_TRUE(data);
  ASSERT_EQ(data->secrets.size(), 2U);
  EXPECT_EQ(data->secrets.at("file:/srv/token"), (SecretRef{SecretRef::Kind::file, "/srv/token"}));
  Node node;
  node.user_data = {data};
  const auto inventory = site_of(node);
  std::vector<Problem> problems;

  const auto config =
      cloud_config(merged({data}, problems),
                   {.secrets = {{"file:/srv/token", "a\"b {{node}}"}, {"env:T", "c"}}});

  EXPECT_EQ(config.at("a").as_string(), "<a\"b {{node}}>")
      << "what is put in is not searched again";
  EXPECT_EQ(config.at("b").as_string(), "{{c");
  EXPECT_THAT(problem_texts(check_secret_files(inventory)),
              ElementsAre("a.yaml:1:16: there is no secret file /srv/token"));
}

TEST(UserData, PlainWordsAreWhatYaml11HasThemFor) {
  const auto data = layer(
      "user_data: {a: yes, b: Off, c: 0644, d: -7, e: 22:30, f: 1.2.3, g: \"yes\", h: '0644', i: "
      "08, "
      "j: ~, k: y}");
  std::vector<Problem> problems;

  EXPECT_EQ(json::value(cloud_config(merged({data}, problems), {})),
            parse_json(R"({"a": true, "b": false, "c": 420, "d": -7, "e": "22:30", "f": "1.2.3",
                           "g": "yes", "h": "0644", "i": "08", "k": "y"})")
                .value());
}

std::vector<std::string> refused(std::string_view text) {
  std::vector<Problem> problems;
  const std::string file = "a.yaml";
  const auto document = parse_yaml(text, file, problems);
  if (document) (void)read_os(&document->root, "/srv", file, problems);
  return problem_texts(problems);
}

TEST(UserData, PlainWordsThatYaml11ReadsOtherwiseHaveToBeQuoted) {
  for (const std::string word : {"1_000", "+5", "-0755", "0x1F", "-0x1F", ".inf"})
    EXPECT_THAT(
        refused("user_data: {a: " + word + "}"),
        ElementsAre("a.yaml:1:16: '" + word + "' would arrive as another value: put it in quotes"));
  EXPECT_THAT(refused("user_data: {a: -7, b: +x, c: a_1, d: '+5', e: 1.2.3, f: 2_x}"), IsEmpty());
}

TEST(UserData, WithATagIsRefusedAtItsPlace) {
  for (const std::string value : {"!!binary aGk=", "!!int \"5\"", "!own x", "!!set [x]", "!own {}"})
    EXPECT_THAT(refused("user_data:\n  a: " + value + "\n"),
                ElementsAre(AllOf(StartsWith("a.yaml:2:"),
                                  HasSubstr("a tag such as !!binary is not read here: in "
                                            "write_files say encoding: b64"))))
        << value;
  EXPECT_THAT(refused("user_data: {a: !!str 5, b: ! x, c: 'x'}"), IsEmpty());
}

TEST(UserData, TakesListsThatCupelHasEntriesInAwayByNull) {
  EXPECT_THAT(refused("user_data: {runcmd: ~, write_files: ~, ssh_authorized_keys: ~, users: ~}"),
              IsEmpty());
  std::vector<Problem> problems;

  const auto tree =
      merged({layer("user_data: {runcmd: [x], a: b}"), layer("user_data: {runcmd: ~}")}, problems);

  EXPECT_EQ(json::value(cloud_config(tree, {})), parse_json(R"({"a": "b"})").value());
}

TEST(UserData, CannotWriteIntoCupelsFolderHoweverThePathIsSpelled) {
  for (const std::string path : {"/var/lib/cupel", "/var/lib//cupel/x", "/var/./lib/cupel/x",
                                 "/etc/../var/lib/cupel/x", "//var/lib/cupel/x"})
    EXPECT_THAT(refused("user_data: {write_files: [{path: " + path + "}]}"),
                ElementsAre("a.yaml:1:34: user_data cannot write " + path +
                            ": what is in /var/lib/cupel/ is Cupel's"));
  EXPECT_THAT(refused("user_data: {write_files: [{path: '/etc/{{node}}'}]}"),
              ElementsAre("a.yaml:1:34: a path of write_files takes no variables"));
  EXPECT_THAT(refused("user_data: {write_files: [{path: /var/lib/cupels/x}]}"), IsEmpty());
}

TEST(UserData, LeavesTheImagesOwnUserAndSettingsAlone) {
  for (const std::string key : {"ssh_genkeytypes", "system_info", "datasource_list", "output"})
    EXPECT_THAT(refused("user_data: {" + key + ": [x]}"),
                ElementsAre(StartsWith("a.yaml:1:13: user_data cannot set " + key + ": ")));
  Node node;
  node.user_data = {layer("user_data: {users: [{name: ann}]}"),
                    layer("user_data:\n  users: [bob]\n", "b.yaml")};
  EXPECT_THAT(checked(site_of(node)),
              ElementsAre("b.yaml:2:10: users of user_data lacks default, the image's own user: "
                          "users: [default, ...]"));
  node.user_data.push_back(layer("user_data: {users: [default]}"));
  EXPECT_THAT(checked(site_of(node)), IsEmpty());
}

TEST(UserData, NeedsNoSecretThatANearerPlaceOverrides) {
  const UserDataLayers layers{layer("user_data: {a: '{{secret \"env:A\"}}', b: {c: '{{secret "
                                    "\"env:B\"}}'}}"),
                              layer("user_data: {a: '{{secret \"env:C\"}}'}")};
  std::vector<Problem> problems;
  const auto tree = merged(layers, problems);

  std::vector<std::string> names;
  for (const auto& [name, ref] : secrets_of(layers, tree)) names.push_back(name);

  EXPECT_THAT(names, ElementsAre("env:B", "env:C"));
}

TEST(UserData, OfANodeWithoutTheValueIsAMistakeAtTheVariable) {
  Node node;
  node.user_data = {layer("user_data: {a: '{{serial}}', b: '{{mac}}'}")};

  EXPECT_THAT(checked(site_of(node)),
              ElementsAre("a.yaml:1:16: user_data has the variable serial, and node 'n1' has none",
                          "a.yaml:1:33: user_data has the variable mac, and node 'n1' has none "
                          "(boot:)"));
  node.serial = "S1";
  node.boot.macs = {"52:54:00:00:00:01"};
  EXPECT_THAT(checked(site_of(node)), IsEmpty());
}

TEST(UserData, IsBoundedOverAllItsLayersAndNeedsASeed) {
  const std::string half(40'000, 'x');
  Node node;
  node.user_data = {layer("user_data: {a: " + half + "}"),
                    layer("user_data: {b: " + half + "}", "b.yaml")};
  auto inventory = site_of(node);
  EXPECT_THAT(checked(inventory),
              ElementsAre(AllOf(StartsWith("b.yaml:1:12: "), HasSubstr("at most 64 KiB"))));

  node.user_data.pop_back();
  inventory = site_of(node);
  EXPECT_THAT(checked(inventory), IsEmpty());
  inventory.profiles["p"].os.seed = false;
  inventory.nodes[0].network = std::make_shared<const NodeNetwork>();
  EXPECT_THAT(
      checked(inventory),
      ElementsAre(HasSubstr("node 'n1' has network:, and os: seed: no of profile 'p' leaves no "
                            "way for it: take one of them away"),
                  "a.yaml:1:12: node 'n1' gets user_data, and os: seed: no of profile 'p' "
                  "leaves no way for it: take one of them away"));
}

TEST(UserData, OfAProfileIsBelowThatOfTheNode) {
  std::vector<Problem> problems;
  const auto profile = parse_profile(
      "profile: p\nextends: cpu-server\nos: {user_data: {locale: C, timezone: UTC}}\n", "p.yaml",
      ProfileSource{"/nowhere"}, problems);
  ASSERT_TRUE(profile) << to_string(problems);
  Node node;
  node.user_data = {layer("user_data: {locale: nb_NO}")};
  auto inventory = site_of(node);
  inventory.profiles["p"] = *profile;

  const auto config =
      cloud_config(merged(user_data_of(inventory, inventory.nodes.front()), problems), {});

  EXPECT_THAT(problem_texts(problems), IsEmpty());
  EXPECT_EQ(json::value(config), parse_json(R"({"locale": "nb_NO", "timezone": "UTC"})").value());
}

}  // namespace
}  // namespace cupel::inventory
