import { useId } from "preact/hooks";
import { FILE_LIMITS, formatSize, type WrittenRequest } from "../client/files";
import { Line } from "../parts/text";

interface FileDropProps extends Pick<WrittenRequest, "files"> {
  /** Names of the files of an example. */
  given: readonly string[];
  /** Names of files of a folder that were not taken. */
  empty: readonly string[];
  /** Why a file will not be read, by its name. */
  unread: Readonly<Record<string, string>>;
  onAdd: (files: File[]) => void;
  onFiles: (files: File[]) => void;
}

/** The files of a request: chosen one by one or as a folder, each can be taken out again; the form takes dropped ones. */
export function FileDrop({ files, given, empty, unread, onAdd, onFiles }: FileDropProps) {
  const name = useId();
  const add = (input: HTMLInputElement) => {
    onAdd([...(input.files ?? [])]);
    input.value = ""; // the same can be chosen again
  };
  return (
    <div class="file-drop flow" role="group" aria-labelledby={name}>
      <p id={name} class="soft">Drop files or a folder here, or choose</p>
      <label class="button">
        Files
        <input type="file" multiple onChange={(event) => add(event.currentTarget)} />
      </label>
      <label class="button">
        A folder
        <input type="file" {...{ webkitdirectory: true }} onChange={(event) => add(event.currentTarget)} />
      </label>
      <span class="soft small">{FILE_LIMITS}</span>
      {given.length > 0 && (
        <p class="small">
          With the example's files: <Line max={300}>{given.join(", ")}</Line>
        </p>
      )}
      {files.length > 0 && (
        <ul class="chips bare flow small" aria-label="Files of the request">
          {files.map((file) => (
            <li key={file.name}>
              <Line max={60}>{file.name}</Line> <span class="soft">{formatSize(file.size)}</span>
              <button type="button" class="plain" aria-label={`Leave out ${file.name}`} onClick={() => onFiles(files.filter((each) => each !== file))}>
                ✕
              </button>
              {unread[file.name] && (
                <span class="problem">
                  not read: <Line max={120}>{unread[file.name]}</Line>
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      {empty.length > 0 && (
        <p class="small" role="status">
          not read: <Line max={300}>{empty.join(", ")}</Line> (empty)
        </p>
      )}
    </div>
  );
}
