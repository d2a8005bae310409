/* The values that invalid_arguments.c calls with, and the program around it. */

#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Valid values -------------------------------------------------------------------------------------- */

static struct {
  MPI_Comm any, grid, graph, dist_graph;
  MPI_Group group;
  MPI_Win win;
  MPI_Request request;
  MPI_Session session;
  MPI_Info info;
  MPI_File file;
  int comm_key, type_key, win_key;
} valid;

static double valid_memory[2][64];
static MPI_Count valid_numbers[2][64]; /* zeros, also as int and MPI_Aint; and room for results */
static int valid_triples[4][3];
static MPI_Status valid_statuses[4];
static char valid_room[16384];
static const char valid_text[] = "external32";

static int return_success(void) { return MPI_SUCCESS; }
static void (*const valid_function)(void) = (void (*)(void))return_success;

static int valid_key(int kind) {
  return kind == 'T' ? valid.type_key : kind == 'W' ? valid.win_key : valid.comm_key;
}

/* Places with a valid handle, for calls that change it. No call is expected to get so far. */
#define PLACES(type, value)                                 \
  static type places_##type[4];                             \
  static inline type* fresh_##type(void) {                  \
    places_##type[0] = (value);                             \
    return places_##type;                                   \
  }                                                         \
  static inline type* fresh_##type##s(void) {               \
    for (int i = 0; i < 4; ++i) places_##type[i] = (value); \
    return places_##type;                                   \
  }                                                         \
  static inline type* place_of_##type(type handle) {        \
    places_##type[0] = handle;                              \
    return places_##type;                                   \
  }
PLACES(MPI_Comm, valid.any)
PLACES(MPI_Datatype, MPI_INT)
PLACES(MPI_Op, MPI_SUM)
PLACES(MPI_Group, valid.group)
PLACES(MPI_Win, valid.win)
PLACES(MPI_Errhandler, MPI_ERRORS_RETURN)
PLACES(MPI_Request, valid.request)
PLACES(MPI_Session, valid.session)
PLACES(MPI_Message, MPI_MESSAGE_NO_PROC)
PLACES(MPI_Info, valid.info)
PLACES(MPI_File, valid.file)

static int* place_of_key(int key) {
  static int place;
  place = key;
  return &place;
}

/* ---- Handles of objects that are gone ------------------------------------------------------------------ */

static MPI_Comm freed_MPI_Comm;
static MPI_Datatype freed_MPI_Datatype;
static MPI_Op freed_MPI_Op;
static MPI_Group freed_MPI_Group;
static MPI_Win freed_MPI_Win;
static MPI_Errhandler freed_MPI_Errhandler;
static MPI_Request freed_MPI_Request;
static MPI_Session freed_MPI_Session;
static MPI_Info freed_MPI_Info;
static MPI_File freed_MPI_File;
static const MPI_Message freed_MPI_Message = MPI_MESSAGE_NULL;
static int freed_key;

static char file_name[100];

static void make_values(void) {
  const int one = 1;
  const int zero = 0;
  valid.any = MPI_COMM_WORLD;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &one, &one, 0, &valid.grid);
  MPI_Graph_create(MPI_COMM_WORLD, 1, &one, &zero, 0, &valid.graph);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &zero, MPI_UNWEIGHTED, 1, &zero, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &valid.dist_graph);
  MPI_Comm_group(MPI_COMM_WORLD, &valid.group);
  MPI_Win_create(valid_memory[0], sizeof valid_memory[0], 1, MPI_INFO_NULL, MPI_COMM_WORLD, &valid.win);
  MPI_Recv_init(valid_memory[1], 1, MPI_INT, 0, 3, MPI_COMM_SELF, &valid.request);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &valid.session);
  MPI_Info_create(&valid.info);
  snprintf(file_name, sizeof file_name, "/tmp/librma-invalid-arguments-%d", (int)getpid());
  MPI_File_open(MPI_COMM_SELF, file_name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &valid.file);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &valid.comm_key, NULL);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &valid.type_key, NULL);
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &valid.win_key, NULL);
  /* The first partitioned message and the first collective of neighbours make communicators that nobody
   * sees. */
  MPI_Neighbor_allgather(valid_memory[0], 1, MPI_INT, valid_memory[1], 1, MPI_INT, valid.grid);
  MPI_Request partitioned = MPI_REQUEST_NULL;
  MPI_Psend_init(valid_memory[0], 1, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &partitioned);
  MPI_Request_free(&partitioned);
  MPI_Win_set_errhandler(valid.win, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, valid.win);
  MPI_Comm_set_errhandler(valid.grid, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(valid.graph, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(valid.dist_graph, MPI_ERRORS_RETURN);
}

static void free_values(void) {
  MPI_Comm_free(&valid.grid);
  MPI_Comm_free(&valid.graph);
  MPI_Comm_free(&valid.dist_graph);
  MPI_Group_free(&valid.group);
  MPI_Win_unlock_all(valid.win);
  MPI_Win_free(&valid.win);
  MPI_Request_free(&valid.request);
  MPI_Session_finalize(&valid.session);
  MPI_Info_free(&valid.info);
  MPI_File_close(&valid.file);
}

#define FREED(type, make, release) \
  do {                             \
    type handle;                   \
    make;                          \
    freed_##type = handle;         \
    release;                       \
  } while (0)

/* Last of all, and the communicator after the window, which has one: nothing is made afterwards that could
 * have the same place in memory. */
static void make_freed_values(void) {
  FREED(MPI_Datatype, MPI_Type_contiguous(2, MPI_INT, &handle), MPI_Type_free(&handle));
  FREED(MPI_Op, MPI_Op_create((MPI_User_function*)valid_function, 1, &handle), MPI_Op_free(&handle));
  FREED(MPI_Group, MPI_Group_incl(valid.group, 1, valid_triples[0], &handle), MPI_Group_free(&handle));
  FREED(MPI_Win, MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &handle), MPI_Win_free(&handle));
  FREED(MPI_Errhandler, MPI_Comm_create_errhandler((MPI_Comm_errhandler_function*)valid_function, &handle),
        MPI_Errhandler_free(&handle));
  FREED(MPI_Request, MPI_Recv_init(valid_memory, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &handle),
        MPI_Request_free(&handle));
  FREED(MPI_Session, MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &handle),
        MPI_Session_finalize(&handle));
  FREED(MPI_Info, MPI_Info_create(&handle), MPI_Info_free(&handle));
  FREED(MPI_File, MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &handle),
        MPI_File_close(&handle));
  FREED(MPI_Comm, MPI_Comm_dup(MPI_COMM_SELF, &handle), MPI_Comm_free(&handle));
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  freed_key = key;
  MPI_Comm_free_keyval(&key);
}

/* ---- The cases ----------------------------------------------------------------------------------------- */

static sigjmp_buf before_call;
static const char* volatile present_case = "";
static int cases;
static int failures;

static void note_crash(int signal) { siglongjmp(before_call, signal); }

static void note_hang(int signal) {
  fprintf(stderr, "%s: waits (signal %d)\n", present_case, signal);
  _exit(2);
}

static void fail(const char* what, const char* expected, int found) {
  ++failures;
  fprintf(stderr, "%s: %s %d, not %s\n", present_case, what, found, expected);
}

#define CASE(text, expected, accepted, call)                   \
  do {                                                         \
    int found = sigsetjmp(before_call, 1);                     \
    present_case = (text);                                     \
    ++cases;                                                   \
    if (found != 0) {                                          \
      fail("signal", (expected), found);                       \
    } else {                                                   \
      alarm(100);                                              \
      MPI_Error_class((call), &found);                         \
      if (!(accepted)) fail("error class", (expected), found); \
    }                                                          \
  } while (0)

static void check_all(void);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  make_values();
  make_freed_values();
  signal(SIGSEGV, note_crash);
  signal(SIGBUS, note_crash);
  signal(SIGFPE, note_crash);
  signal(SIGALRM, note_hang);
  check_all();
  alarm(0);
  printf("%d cases, %d failures\n", cases, failures);
  free_values();
  MPI_Finalize();
  return failures == 0 && cases > 2000 ? 0 : 1;
}
