#include <gmock/gmock.h>

#include "tests/playbooks/read.h"

namespace cupel::playbooks {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kBringUp = R"(playbook: bring-up
parameters:
  patience: {default: 15m, type: duration}
limits: {cold-start: 8, image-stream: 1}
canary: [7]
steps:
  - step: power-on
    claims: [{resource: cold-start}]
  - step: ssh-wait
    deadline: "${patience}"
)";

constexpr std::string_view kOuter = R"(playbook: outer
parameters:
  patience: {default: 20m, type: duration}
limits: {image-stream: 5}
steps:
  - include: parts/bring-up.yaml
    with: {patience: "${patience}"}
    when: {profile: dgx-h100}
  - stage: disk
)";

Read load(const std::string& file, const Arguments& arguments = {}) {
  Read result;
  result.playbook = load_playbook(file, result.problems, arguments);
  return result;
}

TEST(Include, PutsTheOtherFilesStepsInItsPlace) {
  const Folder folder;
  folder.write("parts/bring-up.yaml", kBringUp);

  const auto result = load(folder.write("outer.yaml", kOuter));

  ASSERT_TRUE(result.playbook) << result.reported();
  const auto& playbook = *result.playbook;
  ASSERT_EQ(playbook.steps.size(), 3);
  EXPECT_EQ(playbook.steps[1].name, "ssh-wait");
  EXPECT_EQ(playbook.steps[1].deadline, std::chrono::minutes{20});
  EXPECT_EQ(playbook.steps[1].where, (inventory::Place{folder.path("parts/bring-up.yaml"), 9, 5}));
  ASSERT_EQ(playbook.steps[0].when.size(), 1);
  EXPECT_THAT(playbook.steps[0].when[0].values, ElementsAre("dgx-h100"));
  EXPECT_EQ(playbook.limits,
            (std::map<std::string, int, std::less<>>{{"cold-start", 8}, {"image-stream", 5}}));
  EXPECT_THAT(playbook.canary, ElementsAre());
}

TEST(Include, IsReadAgainFromTheOneTextThatARunKeeps) {
  Read first;
  std::string file;
  {
    const Folder folder;
    folder.write("parts/bring-up.yaml", kBringUp);
    file = folder.write("outer.yaml", kOuter);
    first = load(file, {{"patience", "33m"}});
    ASSERT_TRUE(first.playbook) << first.reported();
  }  // the files are gone

  Read again;
  again.playbook = parse_playbook(first.playbook->text, file, again.problems);

  ASSERT_TRUE(again.playbook) << again.reported();
  EXPECT_EQ(again.playbook->text, first.playbook->text);
  EXPECT_EQ(again.playbook->name, "outer");
  EXPECT_EQ(again.playbook->file, file);
  ASSERT_EQ(again.playbook->steps.size(), first.playbook->steps.size());
  for (std::size_t i = 0; i < again.playbook->steps.size(); ++i) {
    EXPECT_EQ(again.playbook->steps[i].name, first.playbook->steps[i].name);
    EXPECT_EQ(again.playbook->steps[i].where, first.playbook->steps[i].where);
    EXPECT_EQ(again.playbook->steps[i].when, first.playbook->steps[i].when);
    EXPECT_EQ(again.playbook->steps[i].deadline, first.playbook->steps[i].deadline);
  }
  EXPECT_EQ(again.playbook->steps[1].deadline, std::chrono::minutes{33});
}

TEST(Include, KeepsAPlaybookWithoutAnyAsItIs) {
  const std::string text = "playbook: p\nsteps: [{step: verdict}]  # \xc3\xa9\n";
  const auto plain = read(text);
  const auto with_value = read(
      "playbook: p\nparameters: {x: {default: 1h}}\nsteps: [{step: ssh-wait, deadline: "
      "\"${x}\"}]\n",
      {{"x", "2h"}});

  ASSERT_TRUE(plain.playbook && with_value.playbook) << plain.reported() << with_value.reported();
  EXPECT_EQ(plain.playbook->text, text);
  const auto again = read(with_value.playbook->text);
  ASSERT_TRUE(again.playbook) << again.reported();
  EXPECT_EQ(again.playbook->steps[0].deadline, std::chrono::hours{2});
}

TEST(Include, FindsShippedOnesByTheirNames) {
  const Folder folder;

  const auto result =
      load(folder.write("mine.yaml", "playbook: mine\nsteps: [{include: audit}]\n"));

  ASSERT_TRUE(result.playbook) << result.reported();
  EXPECT_EQ(result.playbook->steps.front().where.file, "playbooks/audit.yaml");
  EXPECT_EQ(result.playbook->steps.back().name, "verdict");
}

TEST(Include, TellsMistakesAtTheirPlaceInTheOtherFile) {
  const Folder folder;
  const auto inner = folder.write("inner.yaml",
                                  "playbook: inner\nparameters: {a: {default: 1h}}\nsteps:\n"
                                  "  - {step: ssh-wait, deadline: \"${a}\"}\n  - {stage: dsk}\n");
  const auto outer = folder.write(
      "outer.yaml",
      "playbook: outer\nsteps:\n  - include: inner.yaml\n    with: {b: 1}\n  - include: innr.yaml\n"
      "  - include: new-rak\n");

  const auto result = load(outer);

  EXPECT_FALSE(result.playbook);
  EXPECT_EQ(result.reported(),
            inner + ":5:13: there is no stage 'dsk' (did you mean 'disk'?)\n" + outer +
                ":4:12: " + inner + " has no parameter 'b' (did you mean 'a'?)\n" + outer +
                ":5:14: there is no file " + folder.path("innr.yaml") +
                ", and no shipped playbook of that name\n" + outer + ":6:14: there is no file " +
                folder.path("new-rak") +
                ", and no shipped playbook of that name (did you mean 'new-rack'?)\n");
}

TEST(Include, NamesTheListOfShippedPlaybooksWhereAWordIsNoneOfThem) {
  EXPECT_THAT(load("frobnicate").reported(),
              ::testing::EndsWith("; the shipped playbooks: cupel playbook list\n"));
  EXPECT_THAT(load("frobnicate.yaml").reported(), ::testing::Not(::testing::HasSubstr("shipped")));
}

TEST(Include, EndsInNoCircleAndInNoDepth) {
  const Folder folder;
  const auto a = folder.write("a.yaml", "playbook: a\nsteps: [{include: b.yaml}]\n");
  const auto b = folder.write("b.yaml", "playbook: b\nsteps: [{include: ./a.yaml}]\n");
  for (int i = 0; i < 12; ++i)
    folder.write("d" + std::to_string(i) + ".yaml",
                 "playbook: d\nsteps: [{include: d" + std::to_string(i + 1) + ".yaml}]\n");
  std::string wide = "playbook: w\nsteps:\n";
  for (int i = 0; i < 101; ++i) wide += "  - include: leaf.yaml\n";
  folder.write("leaf.yaml", "playbook: l\nsteps: [{step: verdict}]\n");

  EXPECT_EQ(load(a).reported(), b + ":2:19: includes itself: " + a + " > " + b + " > " + a + "\n");
  EXPECT_THAT(load(folder.path("d0.yaml")).reported(), HasSubstr("includes deeper than 8 files"));
  EXPECT_THAT(load(folder.write("w.yaml", wide)).reported(), HasSubstr("more than 100 includes"));
}

TEST(Include, ReadsNoFileWhereOnlyATextWasGiven) {
  const Folder folder;
  const auto inner = folder.write("inner.yaml", "playbook: i\nsteps: [{step: verdict}]\n");

  const auto result = read("playbook: p\nsteps: [{include: " + inner + "}]\n");

  EXPECT_THAT(result.reported(), HasSubstr("there is no file " + inner));
}

}  // namespace
}  // namespace cupel::playbooks
