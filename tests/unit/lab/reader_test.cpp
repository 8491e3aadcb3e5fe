// Experiment files: what a sound one means, and what is said of every key that is not.
#include <fmt/format.h>

#include "raddle/lab/file/library.h"
#include "unit/lab/support.h"

namespace raddle::lab::test::reader_test {
namespace {

TEST(Reader, DefinitionsOfTheHead) {
  const Experiment e = experiment(kWhole);
  EXPECT_EQ(e.full_id(), "box.fig1");
  EXPECT_EQ(e.title, "A figure");
  EXPECT_EQ(e.kind, "performance");
  EXPECT_EQ(e.priority, 2u);
  EXPECT_EQ(e.gpu.text, "gtx480");
  EXPECT_EQ(e.place.line, 1u);
  ASSERT_EQ(e.workloads.size(), 4u);
  EXPECT_EQ(e.workloads[0].name, "vecadd") << "in order of writing";
  EXPECT_EQ(e.workloads[1].workload, "reduction");
  EXPECT_EQ(e.workloads[3].members, (std::vector<std::string>{"vecadd", "red"}));
  EXPECT_EQ(e.workloads_of("pair"), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(e.workloads_of("both"), std::vector<std::size_t>{2});
  EXPECT_EQ(e.variants[1].title, "GTO");
  EXPECT_EQ(e.variants[0].title, "lrr");
  ASSERT_TRUE(e.variants[3].selection);
  EXPECT_TRUE(e.variants[3].selection->maximise);
  ASSERT_EQ(e.axes[0].points.size(), 4u);
  EXPECT_EQ(e.axes[0].points[1].set[0].path, "policy.warp.group_size");
  EXPECT_EQ(e.axes[0].points[1].set[0].value, 4);
  EXPECT_EQ(e.axes[1].points[1].set[0].path, "sm.l1d.size_kib");
  EXPECT_EQ(e.measures[1].unit, "x");
  EXPECT_EQ(e.runs.size(), 2u);
  EXPECT_EQ(e.trends[0].text, "1 < 2") << "text defaults to the condition";
}

TEST(Reader, ScaleChoosesParametersAndPoints) {
  const std::string text = R"(id = "a"
title = "t"
kind = "sensitivity"
gpu = "gtx480"
[workloads.bfs]
parameters = { degree = 4, n = 100 }
quick = { n = 10 }
full = { size = "tiny" }
[axes.l1]
path = "sm.l1d.size_kib"
values = [8, 16, 32]
quick = [32, 8]
[axes.n]
path = "workload.n"
values = [1]
[[shapes]]
check = "1 < 2"
)";
  auto parameters = [&](Scale scale) {
    std::string out;
    const Experiment chosen = experiment(text, scale);
    for (const Setting& setting : chosen.workloads[0].parameters)
      out += setting.path + "=" + setting.value.dump() + " ";
    return out;
  };
  EXPECT_EQ(parameters(Scale::Quick), "size=\"small\" degree=4 n=10 ");
  EXPECT_EQ(parameters(Scale::Full), "degree=4 n=100 size=\"tiny\" ");
  EXPECT_EQ(experiment(text, Scale::Full).axes[0].points.size(), 3u);
  const Axis quick = experiment(text, Scale::Quick).axes[0];
  ASSERT_EQ(quick.points.size(), 2u);
  EXPECT_EQ(shown(quick.points[0].value), "32") << "in the order of `quick`";
  const Axis n = experiment(text).axes[1];
  EXPECT_EQ(n.points[0].parameters[0].path, "n");
  EXPECT_TRUE(n.points[0].set.empty());
}

TEST(Reader, PaperFileIsTheCommonGround) {
  const SourceFile paper{"p/paper.toml", R"(id = "p"
title = "A paper"
reference = "somewhere"
gpu = "ccws"
seed = 7
set = { "sm.count" = 2 }
order = ["b", "a"]
[workloads.bfs]
[variants.gto]
policies = ["warp=gto"]
[measures]
ipc = "totals.ipc"
)"};
  const std::string shape = "[[shapes]]\ncheck = '1 < 2'\n";
  const std::string head = "title = 't'\nkind = 'cost'\n";
  const Paper read = read_paper(
      paper,
      {{"p/a.toml", "id = 'a'\nset = { 'sm.warps' = 16 }\nseed = 9\n" + head + shape},
       {"p/b.toml", "id = 'b'\ngpu = 'gtx480'\n" + head + "[constants]\nk = 8\n" + shape},
       {"p/c.toml", "id = 'c'\nset = { 'sm.count' = 3 }\n" + head + shape}},
      "p", Scale::Quick);
  EXPECT_EQ(read.title, "A paper");
  ASSERT_EQ(read.experiments.size(), 3u);
  EXPECT_EQ(read.experiments[0].id, "b");
  EXPECT_EQ(read.experiments[1].id, "a");
  EXPECT_EQ(read.experiments[2].id, "c") << "not in `order`: behind";
  EXPECT_EQ(read.experiments[0].gpu.text, "gtx480");
  EXPECT_EQ(read.experiments[1].gpu.text, "ccws");
  EXPECT_EQ(read.experiments[1].seed, 9u);
  EXPECT_EQ(read.experiments[2].seed, 7u);
  ASSERT_EQ(read.experiments[1].set.size(), 2u) << "laid over the paper's";
  EXPECT_EQ(read.experiments[1].set[0].path, "sm.count");
  ASSERT_EQ(read.experiments[2].set.size(), 1u) << "takes the place of the paper's";
  EXPECT_EQ(read.experiments[2].set[0].value, 3);
  EXPECT_TRUE(read.experiments[0].find("k", NameKind::Constant));
  EXPECT_FALSE(read.experiments[1].find("k")) << "each file has its own";
  EXPECT_TRUE(read.experiments[2].find("ipc", NameKind::Measure));
}

TEST(Reader, BoundsOfStatedNumbers) {
  auto bounds = [](const std::string& entry) {
    const Experiment e = experiment(kHead + kRuns + "[[stated]]\nwhat = 'w'\nvalue = 1\n" + entry);
    return std::pair(e.reported[0].low, e.reported[0].high);
  };
  using Pair = std::pair<double, double>;
  auto near = [](Pair a, Pair b) {
    return std::abs(a.first - b.first) < 1e-12 && std::abs(a.second - b.second) < 1e-12;
  };
  EXPECT_TRUE(near(bounds("paper = 1.63\n"), {1.315, 2.008})) << "half to 1.6 times of +63 %";
  EXPECT_TRUE(near(bounds("paper = 0.36\n"), {0, 1 - 0.5 * 0.64})) << "cut at 0";
  EXPECT_TRUE(near(bounds("paper = 30\nreading = 'value'\n"), {15, 48}));
  EXPECT_TRUE(near(bounds("paper = 20480\nreading = 'exact'\n"), {20479.5, 20480.5}));
  EXPECT_TRUE(near(bounds("paper = 0.17\nreading = 'exact'\ndigits = 2\n"), {0.165, 0.175}));
  EXPECT_TRUE(near(bounds("paper = 5\nbounds = [2, 10]\n"), {2, 10}));
}

TEST(Reader, AnalysesAreWordsForTheSimulator) {
  const Experiment e = experiment(kHead + kRuns + kShape +
                                  "[analyses.locality]\n[analyses.small]\nanalysis = 'cache'\n"
                                  "size_kib = 8\nreplacement = ['lru', 'belady']\n");
  EXPECT_EQ(e.analyses.at("locality").text, "locality=locality");
  EXPECT_EQ(e.analyses.at("small").text, "small=cache:size_kib=8,replacement=lru+belady");
}

TEST(Reader, AllProblemsAreToldAtOnceInOrder) {
  const std::string text = "id = 'a'\ntitle = 1\nkind = 'song'\ngpu = 'gtx480'\ncolour = 'red'\n" +
                           kShape + "[[runs]]\nworkloads = ['x']\nvariants = []\n";
  try {
    read(text);
    FAIL();
  } catch (const InputError& error) {
    std::vector<unsigned> lines;
    for (const Diagnostic& d : error.diagnostics()) lines.push_back(d.place.line);
    EXPECT_EQ(lines, (std::vector<unsigned>{2, 3, 5, 10})) << error.what();
  }
}

TEST(BadPaper, IsRefusedNamingTheKey) {
  const std::string body = "title = 't'\nkind = 'cost'\n" + kShape;
  auto message = [&](const std::string& paper, const std::string& second = "b") {
    return input_error_of([&] {
      read_paper(
          SourceFile{"p/paper.toml", paper},
          {{"p/a.toml", "id = 'a'\n" + body}, {"p/b.toml", "id = '" + second + "'\n" + body}}, "p",
          Scale::Quick);
    });
  };
  const std::string sound = "id = 'p'\ntitle = 'T'\n";
  EXPECT_EQ(message(sound), "no error");
  EXPECT_THAT(message("id = 'q'\ntitle = 'T'\n"),
              HasSubstr("p/paper.toml:1:6: id: expected \"p\", the name of the folder"));
  EXPECT_THAT(message("id = 'p'\n"), HasSubstr("title: expected"));
  EXPECT_THAT(message(sound + "reference = 3\n"), HasSubstr("reference: expected a text"));
  EXPECT_THAT(message(sound + "order = ['z']\n"),
              HasSubstr("p/paper.toml:3:10: order: there is no experiment \"z\""));
  EXPECT_THAT(message(sound + "order = 3\n"), HasSubstr("order: expected"));
  EXPECT_THAT(message(sound + "colour = 3\n"), HasSubstr("colour: unknown key"));
  EXPECT_THAT(message(sound + "[[runs]]\n"), HasSubstr("runs: unknown key"));
  EXPECT_THAT(message(sound + "gpu = 3\n"), HasSubstr("gpu: expected a text"));
  EXPECT_THAT(message("id = \n"), HasSubstr("p/paper.toml:1"));
  EXPECT_THAT(message(sound, "a"),
              HasSubstr("p/b.toml:1:6: id: \"a\" is already the id of p/a.toml:1"));
}

// A file that stands alone may leave these out: own_work_test.cpp.
TEST(BadPaper, ItsFilesNeedIdTitleKindAndVerdict) {
  const auto message = [](const std::string& text) {
    return input_error_of([&] {
      read_paper(SourceFile{"p/paper.toml", "id = 'p'\ntitle = 'T'\n"}, {{"p/a.toml", text}}, "p",
                 Scale::Quick);
    });
  };
  EXPECT_THAT(message("title = 't'\nkind = 'cost'\n" + kShape),
              AllOf(HasSubstr("id: expected a text"), HasSubstr("missing")));
  EXPECT_THAT(message("id = 'a'\nkind = 'cost'\n" + kShape), HasSubstr("title: expected"));
  EXPECT_THAT(message("id = 'a'\ntitle = 't'\n" + kShape), HasSubstr("kind: expected a kind"));
  EXPECT_THAT(message("id = 'a'\ntitle = 't'\nkind = 'cost'\n"),
              AllOf(HasSubstr("expected at least one of [[shapes]]"), HasSubstr("no verdict")));
}

TEST(BadPaper, NameOfThePaperCannotMeanSomethingElse) {
  EXPECT_THAT(input_error_of([] {
                read_paper(SourceFile{"p/paper.toml", "id = 'p'\ntitle = 'T'\n[variants.gto]\n"},
                           {{"p/a.toml",
                             "id = 'a'\ntitle = 't'\nkind = 'cost'\n[axes.gto]\npath = "
                             "'sm.count'\nvalues = [1]\n" +
                                 kShape}},
                           "p", Scale::Quick);
              }),
              HasSubstr("axes.gto: the name is already that of a variant (p/paper.toml:3)"));
}

TEST(Library, FilesOfAFolder) {
  const Folder folder;
  std::filesystem::create_directories(folder.path() / "p");
  folder.write("p/paper.toml", "id = 'p'\ntitle = 'T'\n");
  folder.write("p/a.toml", "id = 'a'\ntitle = 't'\nkind = 'cost'\n" + kShape);
  folder.write("p/b.toml", "id = 'n.b'\ntitle = 't'\nkind = 'cost'\n" + kShape);
  folder.write("p/notes.md", "not an experiment");
  const Library library(folder.path());
  EXPECT_EQ(library.papers(), std::vector<std::string>{"p"});
  const Paper paper = library.paper("p", Scale::Quick);
  EXPECT_EQ(paper.experiments.size(), 2u);
  EXPECT_EQ(select(paper, "").size(), 2u);
  EXPECT_EQ(select(paper, "a").size(), 1u);
  EXPECT_EQ(select(paper, "n").size(), 1u) << "all of n.*";
  EXPECT_EQ(select(paper, "n.b")[0]->full_id(), "p.n.b");
  EXPECT_THAT(input_error_of([&] { select(paper, "c"); }), HasSubstr("p has no experiment 'c'"));
  EXPECT_THAT(input_error_of([&] { library.paper("pp", Scale::Quick); }),
              HasSubstr("no experiments of a paper 'pp'; did you mean 'p'?"));
  EXPECT_THAT(input_error_of([&] { Library(folder / "none").papers(); }),
              HasSubstr("cannot be read"));
}

TEST(Library, OneFileWithThePaperBesideIt) {
  const Folder folder;
  std::filesystem::create_directories(folder.path() / "p");
  folder.write("p/paper.toml", "id = 'p'\ntitle = 'T'\n[constants]\nk = 2\n");
  const std::string file = folder.write(
      "p/a.toml", "id = 'a'\ntitle = 't'\nkind = 'cost'\n[[shapes]]\ncheck = 'k > 1'\n");
  EXPECT_EQ(read_single(file, Scale::Quick).title, "T");
  EXPECT_THAT(input_error_of([&] { read_single(folder / "p/paper.toml", Scale::Quick); }),
              HasSubstr("describes a paper"));
  EXPECT_THAT(input_error_of([&] { read_single(folder / "p/none.toml", Scale::Quick); }),
              HasSubstr("none.toml: cannot be read"));
  EXPECT_THAT(input_error_of([&] { read_single(folder / "p", Scale::Quick); }),
              HasSubstr("is a folder"));
  EXPECT_THAT(input_error_of([&] {
                read_single(folder.write("z.toml", std::string("a\0b", 3)), Scale::Quick);
              }),
              HasSubstr("is not a text file"));
}

}  // namespace
}  // namespace raddle::lab::test::reader_test
