// SPDX-License-Identifier: BSD-3-Clause
// Trains a small GPT on the characters of a text file: FP32, own kernels, cuBLAS for all matrix
// products. Prints the loss of each step, the validation loss at the end, and a sample. The same
// options and seed give the same numbers, bit for bit. Option values live in one struct; the host
// buffers of a batch belong to `struct feed`.
#include "charlm/check.cuh"
#include "charlm/dump.cuh"
#include "charlm/model.cuh"
#include "charlm/text.cuh"
#include <getopt.h>
#include <limits.h>

#ifndef TEXT_FILE
#define TEXT_FILE "tests/data/paradise-lost.txt"
#endif

enum { VALIDATION_BATCHES = 16 };

struct options {
    const char *text, *dump;
    long steps, validate_every, sample, seed;
    double rate, loss_scale;
    struct sizes size;
    int graph, quiet;
};

static const struct options defaults = {
    TEXT_FILE, NULL, 300, 0, 200, 1, 5e-3, 1, {16, 32, 2, 4, 64, 0}, 0, 0,
};

static void usage(void)
{
    const struct options *d = &defaults;
    printf("Usage: train_charlm [OPTION]...\n"
           "Trains a small GPT on the characters of a text file.\n"
           "  --text FILE      what to learn (%s)\n"
           "  --steps N        steps of training (%ld)\n"
           "  --batch N        sequences in a step (%d)\n"
           "  --context N      characters in a sequence (%d)\n"
           "  --layers N       transformer blocks (%d)\n"
           "  --heads N        attention heads, must divide the width (%d)\n"
           "  --width N        numbers for each character (%d)\n"
           "  --lr X           highest learning rate (%g)\n"
           "  --seed N         for weights, batches and the sample (%ld)\n"
           "  --val-every N    also validate after every N steps; 0: only at the end (%ld)\n"
           "  --sample N       characters to write at the end (%ld)\n"
           "  --loss-scale X   a power of two: gradients are computed times X, then divided (%g)\n"
           "  --graph          capture the second step in a graph and replay it from then on\n"
           "  --dump FILE      write operands of the last step's products\n"
           "  --quiet          print only the validation loss\n"
           "  --help           print this\n",
           d->text, d->steps, d->size.batch, d->size.context, d->size.layers, d->size.heads,
           d->size.width, d->rate, d->seed, d->validate_every, d->sample, d->loss_scale);
}

static long whole_number(const char *option, const char *text, long low, long high)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high)
        fail("--%s: %s is not a whole number from %ld to %ld", option, text, low, high);
    return value;
}

static double positive_number(const char *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > 0) || !isfinite(value))
        fail("--%s: %s is not a positive number", option, text);
    return value;
}

static double power_of_two(const char *option, const char *text)
{
    int exponent;
    double value = positive_number(option, text);
    if (frexp(value, &exponent) != 0.5 || exponent < -60 || exponent > 60)
        fail("--%s: %s is not a power of two near 1", option, text);
    return value;
}

static void parse_options(struct options *o, int argc, char **argv)
{
    static const struct option known[] = {
        {"text", 1, NULL, 't'},    {"steps", 1, NULL, 's'},     {"batch", 1, NULL, 'b'},
        {"context", 1, NULL, 'c'}, {"layers", 1, NULL, 'l'},    {"heads", 1, NULL, 'n'},
        {"width", 1, NULL, 'w'},   {"lr", 1, NULL, 'r'},        {"seed", 1, NULL, 'x'},
        {"sample", 1, NULL, 'm'},  {"val-every", 1, NULL, 'v'}, {"quiet", 0, NULL, 'q'},
        {"help", 0, NULL, 'h'},    {"graph", 0, NULL, 'g'},     {"dump", 1, NULL, 'd'},
        {"loss-scale", 1, NULL, 'z'}, {NULL, 0, NULL, 0},
    };
    int index = 0, letter;
    *o = defaults;
    opterr = 0;
    while ((letter = getopt_long(argc, argv, ":", known, &index)) != -1) {
        const char *name = known[index].name;
        switch (letter) {
        case 't':
            o->text = optarg;
            break;
        case 's':
            o->steps = whole_number(name, optarg, 0, INT_MAX);
            break;
        case 'b':
            o->size.batch = (int)whole_number(name, optarg, 1, 1 << 16);
            break;
        case 'c':
            o->size.context = (int)whole_number(name, optarg, 1, 1 << 14);
            break;
        case 'l':
            o->size.layers = (int)whole_number(name, optarg, 1, 1000);
            break;
        case 'n':
            o->size.heads = (int)whole_number(name, optarg, 1, 1000);
            break;
        case 'w':
            o->size.width = (int)whole_number(name, optarg, 1, 1 << 15);
            break;
        case 'r':
            o->rate = positive_number(name, optarg);
            break;
        case 'x':
            o->seed = whole_number(name, optarg, 0, LONG_MAX);
            break;
        case 'm':
            o->sample = whole_number(name, optarg, 0, INT_MAX);
            break;
        case 'v':
            o->validate_every = whole_number(name, optarg, 0, INT_MAX);
            break;
        case 'z':
            o->loss_scale = power_of_two(name, optarg);
            break;
        case 'g':
            o->graph = 1;
            break;
        case 'd':
            o->dump = optarg;
            break;
        case 'q':
            o->quiet = 1;
            break;
        case 'h':
            usage();
            exit(0);
        case ':':
            fail("%s wants a value (--help lists the options)", argv[optind - 1]);
        default:
            fail("%s: no such option (--help lists them)", argv[optind - 1]);
        }
    }
    if (optind < argc)
        fail("%s: not an option (--help lists them)", argv[optind]);
    if (o->size.width % o->size.heads)
        fail("--heads %d does not divide --width %d", o->size.heads, o->size.width);
    if ((double)o->size.batch * o->size.context * o->size.heads > INT_MAX ||
        (double)o->size.batch * o->size.context * o->size.width > INT_MAX)
        fail("--batch, --context, --heads and --width are too large together");
}

// Host buffers: a batch, and its rows sorted by character.
struct feed {
    int *tokens, *targets, *order, *first;
};

static int *host_alloc(long n)
{
    void *p = NULL;
    CUDA(cudaMallocHost(&p, n * sizeof(int)));
    return (int *)p;
}

static void feed_create(struct feed *f, const struct sizes *s)
{
    long rows = (long)s->batch * s->context;
    f->tokens = host_alloc(rows);
    f->targets = host_alloc(rows);
    f->order = host_alloc(rows);
    f->first = host_alloc(s->vocabulary + 1);
}

static void feed_destroy(struct feed *f)
{
    CUDA(cudaFreeHost(f->tokens));
    CUDA(cudaFreeHost(f->targets));
    CUDA(cudaFreeHost(f->order));
    CUDA(cudaFreeHost(f->first));
}

static void upload(struct model *m, int *to, const int *from, long n)
{
    CUDA(cudaMemcpyAsync(to, from, n * sizeof(int), cudaMemcpyHostToDevice, m->stream));
}

// Sequence number `sequence` of the batch shall be what stands at `start` in the text.
static void feed_sequence(struct feed *f, const struct text *t, const struct sizes *s, int sequence,
                          long start)
{
    for (int i = 0; i < s->context; i++) {
        f->tokens[sequence * s->context + i] = t->token[start + i];
        f->targets[sequence * s->context + i] = t->token[start + i + 1];
    }
}

// Sorts the rows of the batch by character.
static void feed_sort(struct feed *f, const struct model *m)
{
    int rows = m->size.batch * m->size.context, vocabulary = m->size.vocabulary;
    memset(f->first, 0, (vocabulary + 1) * sizeof(int));
    for (int i = 0; i < rows; i++)
        f->first[f->tokens[i] + 1]++;
    for (int c = 0; c < vocabulary; c++)
        f->first[c + 1] += f->first[c];
    int next[256];
    memcpy(next, f->first, vocabulary * sizeof(int));
    for (int i = 0; i < rows; i++)
        f->order[next[f->tokens[i]]++] = i;
}

static void feed_upload(const struct feed *f, struct model *m)
{
    int rows = m->size.batch * m->size.context, vocabulary = m->size.vocabulary;
    upload(m, m->tokens, f->tokens, rows);
    upload(m, m->targets, f->targets, rows);
    upload(m, m->order, f->order, rows);
    upload(m, m->first, f->first, vocabulary + 1);
}

static float read_loss(struct model *m)
{
    float loss;
    CUDA(cudaMemcpyAsync(&loss, m->loss, sizeof(loss), cudaMemcpyDeviceToHost, m->stream));
    CUDA(cudaStreamSynchronize(m->stream));
    return loss;
}

// Gains 1, shifts and biases 0, matrices normal with a deviation of 1/2 / sqrt(inputs); the two
// that end a block are smaller so that the sum over all blocks stays of the same size. Positions
// start as sines and cosines of many wavelengths: looking back a few characters is then learned
// within the first hundred steps, where random positions need several times as many.
static void initialize(struct model *m, uint64_t *random)
{
    struct weights w;
    w.layer = layer_weights_alloc(m->size.layers);
    float *all = (float *)calloc(m->parameters, sizeof(float));
    if (!all)
        fail("out of memory");
    weights_lay_out(&w, all, &m->size);
    long c = m->size.width;
    double deviation = 0.5 / sqrt((double)c), end = 1 / sqrt(2.0 * m->size.layers);
    double embedding = 6.4 / (double)c;
    auto normal = [random](float *p, long n, double scale) {
        for (long i = 0; i < n; i++)
            p[i] = (float)(random_normal(random) * scale);
    };
    auto ones = [](float *p, long n) {
        for (long i = 0; i < n; i++)
            p[i] = 1;
    };
    normal(w.tokens, m->size.vocabulary * c, embedding);
    for (long i = 0; i < m->size.context * c; i++) {
        double angle = (double)(i / c) * pow(200, -(double)(i % c / 2 * 2) / c);
        w.positions[i] = (float)(embedding * sqrt(2.0) * (i % 2 ? cos(angle) : sin(angle)));
    }
    ones(w.norm_gain, c);
    for (int i = 0; i < m->size.layers; i++) {
        struct layer_weights *l = &w.layer[i];
        ones(l->norm1_gain, c);
        ones(l->norm2_gain, c);
        normal(l->qkv, 3 * c * c, deviation);
        normal(l->project, c * c, deviation * end);
        normal(l->widen, 4 * c * c, deviation);
        normal(l->narrow, 4 * c * c, deviation * end / 2);
    }
    CUDA(cudaMemcpyAsync(m->weights.all, all, m->parameters * sizeof(float), cudaMemcpyHostToDevice,
                         m->stream));
    CUDA(cudaStreamSynchronize(m->stream));
    free(all);
    free(w.layer);
}

// Rises over the first steps, then falls along a cosine to a tenth.
static double rate_at(const struct options *o, long step)
{
    double warm = o->steps / 15 + 1;
    if (step <= warm)
        return o->rate * step / warm;
    double done = (step - warm) / (o->steps - warm);
    return o->rate * (0.55 + 0.45 * cos(3.141592653589793 * done));
}

// The mean loss over windows spread evenly over the validation part: always the same ones.
static double validate(struct model *m, struct feed *f, const struct text *t)
{
    const struct sizes *s = &m->size;
    long room = t->length - t->training - s->context - 1;
    long windows = (long)VALIDATION_BATCHES * s->batch;
    double sum = 0;
    for (int batch = 0; batch < VALIDATION_BATCHES; batch++) {
        for (int i = 0; i < s->batch; i++)
            feed_sequence(f, t, s, i, t->training + room * ((long)batch * s->batch + i) / windows);
        feed_sort(f, m);
        feed_upload(f, m);
        model_forward(m, s->batch, s->context);
        model_loss(m, s->batch * s->context, 0);
        sum += read_loss(m);
    }
    return sum / VALIDATION_BATCHES;
}

// From the batch in f to the gradients.
static void run_step(struct model *m, const struct feed *f)
{
    feed_upload(f, m);
    model_forward(m, m->size.batch, m->size.context);
    model_loss(m, m->size.batch * m->size.context, 1);
    model_backward(m);
}

// A whole step, update included. What it reads of the host is what stands there at each launch.
static cudaGraphExec_t capture_step(struct model *m, const struct feed *f)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA(cudaStreamBeginCapture(m->stream, cudaStreamCaptureModeGlobal));
    run_step(m, f);
    model_update_scheduled(m);
    CUDA(cudaStreamEndCapture(m->stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    return exec;
}

static void train(struct model *m, struct feed *f, const struct text *t, const struct options *o,
                  uint64_t *random)
{
    cudaEvent_t begin, end;
    cudaGraphExec_t step_graph = NULL;
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    for (long step = 1; step <= o->steps; step++) {
        long room = t->training - m->size.context;
        for (int i = 0; i < m->size.batch; i++)
            feed_sequence(f, t, &m->size, i, (long)(random_bits(random) % room));
        feed_sort(f, m);
        model_schedule(m, (float)rate_at(o, step), (int)step);
        if (o->graph && step == 2)
            step_graph = capture_step(m, f);
        CUDA(cudaEventRecord(begin, m->stream));
        if (step_graph) {
            CUDA(cudaGraphLaunch(step_graph, m->stream));
        } else {
            run_step(m, f);
            model_update(m);
        }
        CUDA(cudaEventRecord(end, m->stream));
        float loss = read_loss(m), milliseconds;
        CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
        if (!isfinite(loss))
            fail("the loss of step %ld is not finite", step);
        if (!o->quiet)
            printf("step %ld loss %.7g time %.4f ms\n", step, loss, milliseconds);
        if (o->validate_every && step % o->validate_every == 0 && step < o->steps && !o->quiet)
            printf("step %ld val_loss %.9g\n", step, validate(m, f, t));
        fflush(stdout);
    }
    if (o->dump && o->steps > 0)
        model_dump(m, o->dump);
    if (step_graph)
        CUDA(cudaGraphExecDestroy(step_graph));
    CUDA(cudaEventDestroy(begin));
    CUDA(cudaEventDestroy(end));
}

// Writes text that the model makes up, starting from a line's end (or the first character known).
static void write_sample(struct model *m, const struct text *t, long characters, uint64_t *random)
{
    int context = m->size.context, length = 1, vocabulary = m->size.vocabulary;
    int *window = host_alloc(context);
    float logits[256];
    const void *line_end = memchr(t->byte_of, '\n', vocabulary);
    window[0] = line_end ? (int)((const unsigned char *)line_end - t->byte_of) : 0;
    printf("sample:\n");
    for (long i = 0; i < characters; i++) {
        upload(m, m->tokens, window, length);
        model_forward(m, 1, length);
        CUDA(cudaMemcpyAsync(logits, m->logits + (long)(length - 1) * vocabulary,
                             vocabulary * sizeof(float), cudaMemcpyDeviceToHost, m->stream));
        CUDA(cudaStreamSynchronize(m->stream));
        double sum = 0, top = logits[0], weight[256];
        for (int c = 1; c < vocabulary; c++)
            top = fmax(top, logits[c]);
        // A little colder than the distribution itself.
        for (int c = 0; c < vocabulary; c++)
            sum += weight[c] = exp((logits[c] - top) / 0.8);
        double left = random_uniform(random) * sum;
        int chosen = 0;
        while (chosen < vocabulary - 1 && (left -= weight[chosen]) >= 0)
            chosen++;
        putchar(t->byte_of[chosen]);
        if (length == context)
            memmove(window, window + 1, (context - 1) * sizeof(int));
        else
            length++;
        window[length - 1] = chosen;
    }
    putchar('\n');
    CUDA(cudaFreeHost(window));
}

static void print_configuration(const struct options *o, const struct text *t,
                                const struct model *m)
{
    struct cudaDeviceProp device;
    int number;
    CUDA(cudaGetDevice(&number));
    CUDA(cudaGetDeviceProperties(&device, number));
    const char *name = strrchr(o->text, '/');
    printf("device %s\n", device.name);
    printf("text %s: %ld characters, %d different\n", name ? name + 1 : o->text, t->length,
           t->vocabulary);
    printf("model %d layers, %d heads, width %d, context %d: %ld parameters\n", m->size.layers,
           m->size.heads, m->size.width, m->size.context, m->parameters);
    printf("training %ld steps, batch %d, learning rate %g, seed %ld\n", o->steps, m->size.batch,
           o->rate, o->seed);
}

int main(int argc, char **argv)
{
    struct options options;
    struct text text;
    struct model model;
    struct feed feed;
    parse_options(&options, argc, argv);
    text_load(&text, options.text);
    if (text.length / 10 < options.size.context + 2)
        fail("%s: %ld characters are too few for a context of %d", options.text, text.length,
             options.size.context);
    options.size.vocabulary = text.vocabulary;
    uint64_t random = (uint64_t)options.seed;

    model_create(&model, &options.size, (float)options.loss_scale);
    feed_create(&feed, &options.size);
    initialize(&model, &random);
    if (!options.quiet)
        print_configuration(&options, &text, &model);
    train(&model, &feed, &text, &options, &random);
    printf("val_loss %.9g\n", validate(&model, &feed, &text));
    if (options.sample > 0 && !options.quiet)
        write_sample(&model, &text, options.sample, &random);
    feed_destroy(&feed);
    model_destroy(&model);
    free(text.token);
    return 0;
}
